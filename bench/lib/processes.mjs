/** Starts servers, waits for their first answer, and measures their memory meanwhile. */
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '../../scripts/testing/free-port.mjs';
import { pssOf } from '../lib.mjs';

const CACHE = resolve('.cache/bench');

/**
 * A copy of this Node.js for the servers: pages of a program that this process runs too would count as shared, and a
 * contestant would seem smaller than it is.
 */
export function serverNode() {
  const copy = join(CACHE, `node-${process.version}`);
  if (!existsSync(copy)) {
    mkdirSync(CACHE, { recursive: true });
    copyFileSync(process.execPath, copy);
  }
  return copy;
}

/** Installs a peer of ours under .cache/bench once; returns its folder. */
export function installedPeer(name) {
  const dir = join(CACHE, 'peers', name);
  cpSync(join('bench/peers', name), dir, { recursive: true });
  if (!existsSync(join(dir, 'node_modules/.package-lock.json'))) {
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
    execFileSync('npm', args, { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return dir;
}

/** Starts a program that listens on the port that `settings(port)` names; it may still be loading when this resolves. */
export async function startProcess(settings) {
  const port = await freePort();
  const { command, args, env = {}, cwd } = settings(port);
  const options = { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] };
  const child = spawn(command, args, options);
  let complaints = '';
  child.stderr.on('data', (data) => (complaints = (complaints + data).slice(-2000)));
  const gone = new Promise((exited) => child.once('exit', exited));
  return {
    ...{ url: `http://127.0.0.1:${port}`, pid: child.pid },
    ended: () => child.exitCode !== null && (complaints || `exit code ${child.exitCode}`),
    stop: () => (child.kill('SIGTERM'), gone),
  };
}

export async function post(url, { path, body }) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url + path, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`${response.status} ${(await response.text()).slice(0, 200)}`);
  return response;
}

/** The first answer with status 200, while the server may still be starting. */
export async function firstAnswer(running, request, limitMs = 120_000) {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const answer = await post(running.url, request)
      .then((response) => response.text())
      .catch((error) => error);
    if (typeof answer === 'string') return answer;
    const ended = running.ended?.();
    if (ended || performance.now() > deadline) throw new Error(`no first answer: ${ended || answer}`);
    await new Promise((tick) => setTimeout(tick, 10));
  }
}

/** The largest PSS while `work` runs, in bytes. */
export async function peakPss(pid, work, everyMs = 50) {
  let peak = 0;
  const sampling = setInterval(() => (peak = Math.max(peak, pssOf(pid))), everyMs);
  try {
    await work();
  } finally {
    clearInterval(sampling);
  }
  return Math.max(peak, pssOf(pid));
}
