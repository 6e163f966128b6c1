import { setTimeout as delay } from 'node:timers/promises';
import type { Envelope } from './container.js';
import { docker, run } from './process.js';

/** Waits until the server of a container is ready, asked from inside: no network is needed. */
export async function readyInside(id: string, timeoutMs = 60_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const { code } = await run('docker', ['exec', id, 'node', '/server/healthcheck.mjs']);
    if (code === 0) return;
    await delay(200);
  }
  const { stdout, stderr } = await run('docker', ['logs', id]);
  throw new Error(`not ready after ${timeoutMs} ms:\n${stdout}${stderr}`);
}

const ASK = `
const body = process.argv[1];
const headers = { 'content-type': 'application/json' };
const answer = await fetch('http://127.0.0.1/run', { method: 'POST', headers, body });
console.log(await answer.text());`;

/** POST /run from inside. */
export async function runInside(id: string, body: unknown): Promise<Envelope> {
  const text = await docker('exec', id, 'node', '--input-type=module', '-e', ASK, JSON.stringify(body));
  return JSON.parse(text) as Envelope;
}
