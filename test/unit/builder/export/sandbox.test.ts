import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { runLimited, type SandboxRequest, withoutNetwork } from '../../../../builder/export/sandbox.js';

const run = (command: readonly string[], changes: Partial<SandboxRequest> = {}) =>
  runLimited({
    ...{ command, input: '{"a":1}', env: { PATH: process.env['PATH']! }, folder: tmpdir() },
    ...{ memoryBytes: 2 ** 32, seconds: 20, ...changes },
  });

const node = (code: string): string[] => [process.execPath, '-e', code];

/** Says the id of a child that would go on for a minute, and waits for it. */
const PARENT = ['sh', '-c', 'sleep 60 & echo "child $!" >&2; wait'];

const childOf = (said: string): number => Number(/child (\d+)/.exec(said)![1]);

async function isGone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await sleep(20);
  }
  return false;
}

const isolates = (await withoutNetwork()).length > 0;

describe('a program with limits', () => {
  test('gets one line and nothing of our environment', async () => {
    const program = 'read line; echo "$line ${HOME:-no home}" >&2; exit 3';
    const { status, expired, said } = await run(['sh', '-c', program]);
    expect({ status, expired, said }).toEqual({ status: 3, expired: false, said: '{"a":1} no home\n' });
  });

  test('is refused memory beyond its limit', async () => {
    const code =
      'const all = []; for (let i = 0; i < 16; i++) all.push(Buffer.alloc(2 ** 26, 1)); process.exit(0)';
    expect(await run(node(code))).toMatchObject({ status: 0 });
    const { status } = await run(node(code), { memoryBytes: 640 * 2 ** 20 });
    expect(status).not.toBe(0);
  });

  test('is killed with its children when its time is up', async () => {
    const { status, signal, expired, said } = await run(PARENT, { seconds: 1 });
    expect({ status, signal, expired }).toEqual({ status: null, signal: 'SIGKILL', expired: true });
    expect(await isGone(childOf(said))).toBe(true);
  });

  test('leaves no children behind when it ends', async () => {
    const { said } = await run(['sh', '-c', 'sleep 60 2>/dev/null & echo "child $!" >&2']);
    expect(await isGone(childOf(said))).toBe(true);
  });

  test('is killed when its caller leaves, before or after the start', async () => {
    const gone = new Error('the caller has gone');
    await expect(run(PARENT, { signal: AbortSignal.abort(gone) })).rejects.toBe(gone);
    const leaving = new AbortController();
    const began = Date.now();
    const running = run(PARENT, { signal: leaving.signal });
    setTimeout(() => leaving.abort(gone), 300);
    await expect(running).rejects.toBe(gone);
    expect(Date.now() - began).toBeLessThan(15_000);
  });

  test('a program that is not there is an end, not a crash', async () => {
    expect(await run(['/nowhere/python'])).toMatchObject({ status: 127 });
  });

  (isolates ? test : test.skip)('reaches no network (skipped where unshare is not allowed)', async () => {
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const code = `require('net').connect(${port}, '127.0.0.1').on('connect', () => process.exit(0)).on('error', () => process.exit(9))`;
      expect(await run(node(code))).toMatchObject({ status: 9 });
    } finally {
      server.close();
    }
  });
});
