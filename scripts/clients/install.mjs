import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const OWN = import.meta.dirname;

/** Where the clients are: apart from our own packages. */
export const PLACE = resolve('.cache/clients');

const FILES = [
  ...['package.json', 'package-lock.json', 'requirements.txt', 'requirements.lock.txt'],
  ...['check.py', 'check.mjs'],
];

/** Installs the published clients and all that they need, in the versions that are written here. */
export async function install() {
  mkdirSync(PLACE, { recursive: true });
  for (const file of FILES) cpSync(join(OWN, file), join(PLACE, file));
  const python = join(PLACE, 'python/bin/python');
  if (!existsSync(python)) await run('python3', ['-m', 'venv', join(PLACE, 'python')]);
  const given = ['-r', join(PLACE, 'requirements.txt'), '-c', join(PLACE, 'requirements.lock.txt')];
  await run(python, ['-m', 'pip', 'install', '-q', ...given]);
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: PLACE });
}
