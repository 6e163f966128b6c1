/**
 * Brings up the Node.js that runtime images have, beside the one that runs this: its program as npm packages hold it, with
 * the version and the hash of scripts/node-24/package-lock.json. Prints its path.
 *
 *   node scripts/node-24.mjs
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const FOLDER = join(import.meta.dirname, 'node-24');
const NAME = `node-${process.platform}-${process.arch}`;

/** @returns path of the program, or the reason why there is none */
export function node24() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8'));
  const version = optionalDependencies[NAME];
  if (version === undefined)
    return { reason: `no Node.js 24 is pinned for ${process.platform} on ${process.arch}` };
  if (process.version === `v${version}`) return { path: process.execPath };
  const path = join(FOLDER, 'node_modules', NAME, 'bin/node');
  if (versionOf(path) === `v${version}`) return { path };
  try {
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
    execFileSync('npm', args, { cwd: FOLDER, stdio: ['ignore', 'ignore', 'inherit'] });
  } catch (error) {
    return { reason: `Node.js ${version} can't be installed: ${error.message}` };
  }
  const found = versionOf(path);
  return found === `v${version}` ? { path } : { reason: `${NAME} ${version} says that it is ${found}` };
}

function versionOf(path) {
  try {
    return execFileSync(path, ['--version'], { encoding: 'utf8' }).trim();
  } catch (error) {
    return error.code;
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { path, reason } = node24();
  if (path) console.log(path);
  else {
    process.stderr.write(`${reason}\n`);
    process.exitCode = 3;
  }
}
