import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpackFixtures } from '../scripts/packing/unpack.mjs';

const PREFIX = 'slipway-jest-';
const DAY_MS = 86_400_000;

/**
 * Gives a whole run a temporary folder of its own, which all tests and the processes that they start inherit. It goes
 * with the run; what a run that was killed has left goes with a run of a later day. Models of test/fixtures are unpacked.
 */
export default function setup() {
  unpackFixtures();
  const place = tmpdir();
  for (const name of readdirSync(place).filter((entry) => entry.startsWith(PREFIX))) {
    const dir = join(place, name);
    if (Date.now() - statSync(dir).mtimeMs > DAY_MS) remove(dir);
  }
  process.env.TMPDIR = mkdtempSync(join(place, PREFIX));
  globalThis.removeTemporaryFolder = () => rmSync(process.env.TMPDIR, { recursive: true, force: true });
}

/** A small disk that is still mounted there keeps it from going. */
function remove(dir) {
  try {
    rmSync(dir, { recursive: true, force: true });
  } catch (error) {
    console.warn(`${dir} of an earlier run stays: ${error.message}`);
  }
}
