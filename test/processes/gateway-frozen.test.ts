import { jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { changeKeys } from '../../gateway/keys/key-file.js';
import { newKey } from '../../gateway/keys/key-store.js';
import { ROOT, waitFor } from '../fakes/server.js';

// It takes three looks of ten seconds, and five for each of their answers, until a server is given up.
jest.setTimeout(150_000);

/** Ids of the processes that a process has started, as Linux tells them. */
async function childrenOf(parent: number): Promise<number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(
    ids.map(async (id) => ({ id, stat: await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '') })),
  );
  // Behind the name, which may have brackets in it: state, parent.
  const parentOf = (stat: string) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  return stats.filter(({ stat }) => stat !== '' && parentOf(stat) === parent).map(({ id }) => Number(id));
}

test('a server process that stands still is replaced, and nothing of it is left', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'slipway-frozen-'));
  const keys = path.join(folder, 'keys.json');
  const { secret, record } = newKey('test', new Date(0));
  await changeKeys(keys, () => [record]);
  const args = ['serve', '--upstream', 'process', '--port', '0', '--keys', keys];
  const gateway = spawn(process.execPath, [path.join(ROOT, 'dist/gateway/main.js'), ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [address] = (await once(gateway.stdout.setEncoding('utf8'), 'data')) as [string];
  const ask = () =>
    fetch(`${address.trim()}/slipway/harbour-demo`, {
      method: 'POST',
      headers: { authorization: secret, 'content-type': 'application/json' },
      body: '{"text":"once","params":{"max_new_tokens":2}}',
      signal: AbortSignal.timeout(120_000),
    });
  try {
    expect((await ask()).status).toBe(200);
    const [serve] = await childrenOf(gateway.pid!);
    const [server] = await childrenOf(serve!);
    const [engine] = await childrenOf(server!);
    process.kill(server!, 'SIGSTOP');
    const held = await ask();
    // Its connection broke before a byte of the answer, so it was asked of the next server.
    expect([held.status, held.headers.get('inference-cold-start')]).toEqual([200, 'true']);
    expect((await ask()).status).toBe(200);
    const gone = async (pid: number) => !(await readdir('/proc')).includes(String(pid));
    for (const pid of [serve!, server!, engine!]) await waitFor(() => gone(pid));
  } finally {
    gateway.kill('SIGTERM');
  }
  const [code] = (await once(gateway, 'exit')) as [number | null];
  expect(code).toBe(0);
});
