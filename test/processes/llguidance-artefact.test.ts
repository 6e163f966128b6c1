import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../fakes/server.js';

jest.setTimeout(600_000);

const ROOM = join(ROOT, 'runtime/engines/generation/grammar/llguidance');
const WASM = join(ROOM, 'llguidance.wasm');
const run = (command: string, args: string[]) =>
  spawnSync(command, args, { cwd: ROOM, encoding: 'utf8', env: process.env });

/** Why the artefact can't be built here; undefined where it can. */
function missing(): string | undefined {
  const version = /channel = "(.*)"/.exec(readFileSync(join(ROOM, 'rust-toolchain.toml'), 'utf8'))![1]!;
  const rustc = run('rustc', ['--version']);
  if (!rustc.stdout?.startsWith(`rustc ${version} `)) return `no rustc ${version} is installed`;
  const targets = run('rustup', ['target', 'add', 'wasm32-unknown-unknown']);
  if (targets.status !== 0) return 'the target wasm32-unknown-unknown is not installed and was not to be had';
  const crates = run('cargo', ['fetch', '--locked']);
  if (crates.status !== 0) return 'the crates that Cargo.lock names were not to be had';
  // The artefact names the folder of the registry that its crates came from.
  const [, registry] = /\/cargo\/(registry\/src\/[\w.-]+)/.exec(readFileSync(WASM, 'latin1'))!;
  const cargo = process.env['CARGO_HOME'] ?? join(homedir(), '.cargo');
  return existsSync(join(cargo, registry!)) ? undefined : 'the crates come from a mirror of their registry';
}

const reason = missing();
const test = reason === undefined ? it : it.skip;

let out: string;
beforeAll(() => {
  out = mkdtempSync(join(tmpdir(), 'slipway-llguidance-'));
});
afterAll(() => rmSync(out, { recursive: true }));

test(`building llguidance gives the artefact to the byte${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  const sources = join(out, 'llguidance');
  cpSync(ROOM, sources, { recursive: true });
  const built = spawnSync('sh', [join(sources, 'build.sh')], { cwd: sources, encoding: 'utf8' });
  expect({ status: built.status, end: built.stderr.slice(-500) }).toMatchObject({ status: 0 });
  const hash = (folder: string) => readFileSync(join(folder, 'llguidance.wasm.sha256'), 'utf8');
  expect(hash(sources)).toBe(hash(ROOM));
  expect(readFileSync(join(sources, 'llguidance.wasm'))).toEqual(readFileSync(WASM));
});
