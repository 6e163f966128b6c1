import { jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ConsoleState } from '../../gateway/console/state.js';
import { askConsole } from '../fakes/console.js';
import { freePort, waitFor } from '../fakes/server.js';

jest.setTimeout(60_000);

const KEY = 'a-key-that-is-long-enough';

const folder = () => mkdtemp(join(tmpdir(), 'slipway-console-'));

async function written(name: string, content: string): Promise<string> {
  const file = join(await folder(), name);
  await writeFile(file, content);
  return file;
}

const catalogOf = (...ids: string[]) =>
  JSON.stringify({
    models: ids.map((id) => ({ id, task: 'chat', addresses: ['http://127.0.0.1:9'] })),
  });

const running: ReturnType<typeof spawn>[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});

function serve(catalog: string, ...args: string[]) {
  const all = ['dist/gateway/main.js', 'serve', '--upstream', 'static', '--catalog', catalog, '--port', '0'];
  const child = spawn(process.execPath, [...all, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  return child;
}

/** How a gateway ends that can't start. */
async function refusal(...args: string[]): Promise<{ code: number; said: string }> {
  const child = serve(await written('models.json', catalogOf('org/one')), ...args);
  const said = text(child.stderr);
  const [code] = (await once(child, 'exit')) as [number];
  return { code, said: await said };
}

async function signedIn(address: string, key: string): Promise<string> {
  const { headers } = await askConsole(address, '/session', { method: 'POST', body: { key } });
  return headers.get('set-cookie')!.split(';')[0]!;
}

test.each(['0.0.0.0:0', '[::]:0'])('--console %s needs a file with its key', async (address) => {
  const { code, said } = await refusal('--console', address);
  expect(code).toBe(2);
  expect(said).toContain('can be reached from elsewhere: it needs a key; give --console-key-file');
});

test('a key file that is missing, empty or short is refused by name', async () => {
  const short = await written('short.key', 'guess\n');
  const empty = await written('empty.key', '');
  for (const [file, fault] of [
    [join(await folder(), 'none.key'), "can't be read (ENOENT)"],
    [empty, '--console-key-file'],
    [short, 'has 5 characters, and needs 16'],
  ] as const) {
    const { code, said } = await refusal('--console', '0', '--console-key-file', file);
    expect([code, said]).toEqual([2, expect.stringContaining('--console-key-file')]);
    expect(said).toContain(fault);
    expect(said).not.toContain('guess');
  }
});

test('on a loopback address a key is made for the run, and printed for its operator alone', async () => {
  const port = await freePort();
  const child = serve(await written('models.json', catalogOf('org/one')), '--console', String(port));
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  const [first] = (await once(child.stdout, 'data')) as [Buffer];
  const key = /the console of this run takes the key (slc_\S+)/.exec(said)![1]!;
  expect(String(first)).not.toContain(key);
  const address = `http://127.0.0.1:${port}`;
  expect((await askConsole(address, '/api/state', {}, await signedIn(address, key))).status).toBe(200);
});

test('the catalogue is read again, a key is made and limited, and the audit log tells it', async () => {
  const port = await freePort();
  const catalog = await written('models.json', catalogOf('org/one'));
  const files = await folder();
  const [keys, audit] = [join(files, 'keys.json'), join(files, 'audit.jsonl')];
  const keyFile = await written('console.key', `${KEY}\n`);
  const options = ['--keys', keys, '--audit', audit, '--console-key-file', keyFile];
  const child = serve(catalog, '--console', String(port), ...options);
  const base = String((await once(child.stdout, 'data'))[0]).trim();
  const address = `http://127.0.0.1:${port}`;
  const cookie = await signedIn(address, KEY);
  const ask = (path: string, body?: object) =>
    askConsole(address, path, body ? { method: 'POST', body } : {}, cookie);
  const ids = async () => ((await ask('/api/state')).output as ConsoleState).models.map(({ id }) => id);
  expect(await ids()).toEqual(['org/one']);
  await writeFile(catalog, catalogOf('org/one', 'org/two'));
  expect((await ask('/api/catalog/reload', {})).output).toEqual({ models: 2 });
  expect(await ids()).toEqual(['org/one', 'org/two']);
  await writeFile(catalog, '{"models": [{"id": 3}]}');
  const refused = await ask('/api/catalog/reload', {});
  expect([refused.status, refused.error]).toEqual([409, expect.stringContaining('the last one')]);
  expect(await ids()).toEqual(['org/one', 'org/two']);
  const { id, key } = (await ask('/api/keys', { name: 'the shop' })).output as { id: string; key: string };
  const limits = { calls: 2, seconds: 600 };
  expect((await ask(`/api/keys/${id}/limits`, { limits })).status).toBe(200);
  const list = () => fetch(`${base}/list/models`, { headers: { authorization: key } });
  expect([(await list()).status, (await list()).status, (await list()).status]).toEqual([200, 200, 429]);
  expect(JSON.parse(await readFile(keys, 'utf8'))).toMatchObject({ keys: [{ id, limits }] });
  const lines = async () =>
    (await readFile(audit, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
  await waitFor(async () => (await lines()).length === 8);
  expect(await lines()).toMatchObject([
    { event: 'gateway-started' },
    { event: 'console-signed-in' },
    { event: 'console-reload', status: 200 },
    { event: 'console-reload', status: 409 },
    { event: 'key-created', key: id, name: 'the shop' },
    { event: 'console-create-key', status: 200, key: id, name: 'the shop' },
    { event: 'key-limited', key: id, limits: '2/600s' },
    { event: 'console-limit-key', status: 200, key: id, limits: '2/600s' },
  ]);
  const told = await readFile(audit, 'utf8');
  for (const secret of [key, KEY]) expect(told).not.toContain(secret);
});
