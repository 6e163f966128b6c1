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
  ...['check.py', 'check.mjs', 'lm_eval', 'infinity'],
];

/** Installs the published clients and all that they need, in the versions that are written here. */
export async function install() {
  mkdirSync(PLACE, { recursive: true });
  for (const file of FILES) cpSync(join(OWN, file), join(PLACE, file), { recursive: true });
  const at = (file) => join(PLACE, file);
  await installPython('python', ['-r', at('requirements.txt'), '-c', at('requirements.lock.txt')]);
  // All that these need, in versions of their own.
  await installPython('python-lm-eval', ['--no-deps', '-r', at('lm_eval/requirements.txt')]);
  await installPython('python-infinity', ['--no-deps', '-r', at('infinity/requirements.txt')]);
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: PLACE });
}

async function installPython(folder, given) {
  const python = join(PLACE, folder, 'bin/python');
  if (!existsSync(python)) await run('python3', ['-m', 'venv', join(PLACE, folder)]);
  await run(python, ['-m', 'pip', 'install', '-q', ...given]);
}
