import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const JEST = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
];

/**
 * Runs projects of jest.config.mjs.
 * @param {string[]} projects
 * @param {{ folder: string, workers: number, node?: string, env?: Record<string, string> }} options `folder` takes the
 * report; one worker is jest's own process
 * @returns {Promise<{ name: string, file: string, status: number | null, ms: number }>} `file` may not be there
 */
export async function runJest(projects, { folder, workers, node = process.execPath, env = {} }) {
  const name = projects.join('-');
  const file = join(folder, `${name}.json`);
  const report = ['--json', `--outputFile=${file}`, '--selectProjects', ...projects];
  const started = Date.now();
  const side = workers === 1 ? '--runInBand' : `--maxWorkers=${workers}`;
  const child = spawn(node, [...JEST, ...report, side], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  });
  const [status] = await once(child, 'close');
  return { name, file, status, ms: Date.now() - started };
}

/** Runs a command that is one test: it passes when it exits with 0. What it says comes in one piece. */
export async function runStep(name, command, args) {
  const started = Date.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (said += text));
  const passed = await new Promise((resolve) => {
    child.on('error', (error) => resolve(!(said += error.message)));
    child.on('close', (status) => resolve(status === 0));
  });
  process.stdout.write(said);
  return { name, passed, ms: Date.now() - started };
}

/** Runs a script that brings up what suites need. @returns whether it is there; the script says why not */
export async function provide(script, { stdout = 'ignore', env = {} } = {}) {
  const child = spawn('bash', [join('scripts', script)], {
    stdio: ['ignore', stdout, 'inherit'],
    env: { ...process.env, ...env },
  });
  const [status] = await once(child, 'close');
  return status === 0;
}
