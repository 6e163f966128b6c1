import { jest } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { changeKeys } from '../../gateway/keys/key-file.js';
import { newKey } from '../../gateway/keys/key-store.js';
import { type Hub, startHub } from '../fakes/hub.js';
import { freePort, ROOT, waitFor } from '../fakes/server.js';

/** Commands whose hub is switched off after the first start. */

jest.setTimeout(120_000);

const REPO = path.join(ROOT, 'test/fixtures/zoo/text-classification/distilbert/repo');
const ID = 'test/model';

let hub: Hub;
let folder: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  hub = await startHub({ models: { [ID]: { dir: REPO, pipeline_tag: 'text-classification' } } });
  folder = await mkdtemp(path.join(tmpdir(), 'slipway-offline-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await hub.close().catch(() => undefined);
});

interface Started {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Exit code, or the signal. */
  ended: Promise<number | string>;
}

function start(program: 'builder' | 'gateway', args: string[], env: Record<string, string> = {}): Started {
  const child = spawn(process.execPath, [path.join(ROOT, `dist/${program}/main.js`), ...args], {
    env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: tmpdir(), HF_ENDPOINT: hub.url, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(([code, by]) => (code ?? by) as number | string);
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

/** `builder serve` until it answers, then to its end. @returns what it answered, and what it told */
async function served(env: Record<string, string> = {}): Promise<{ answer: unknown; stderr: string }> {
  const port = await freePort();
  const server = start('builder', ['serve', ID, '--port', String(port)], env);
  await Promise.race([
    waitFor(() => server.stdout() !== '', 60_000),
    server.ended.then((code) => {
      throw new Error(`ended with ${code}: ${server.stderr()}`);
    }),
  ]);
  const response = await fetch(`http://127.0.0.1:${port}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"text":"fine"}',
  });
  server.child.kill('SIGTERM');
  await server.ended;
  return { answer: await response.json(), stderr: server.stderr() };
}

test('serve, build and plan go on without their hub, with the same model', async () => {
  const first = await served();
  expect(first.answer).toMatchObject({ error: null });
  const plan = async () =>
    JSON.parse(await told(start('builder', ['plan', ID, '--json']))) as { spec: object };
  const build = async () =>
    JSON.parse(await told(start('builder', ['build', ID, '--dry-run', '--json']))) as object;
  const [planned, built] = [await plan(), await build()];
  await hub.close();

  const second = await served();
  expect(second.answer).toEqual(first.answer);
  expect(second.stderr).toMatch(
    /no connection to .*; test\/model is taken at commit [0-9a-f]{40} from the cache/,
  );
  expect(await plan()).toEqual(planned);
  expect(await build()).toEqual(built);
});

async function told(command: Started): Promise<string> {
  const code = await command.ended;
  if (code !== 0) throw new Error(`${code}: ${command.stderr()}`);
  return command.stdout();
}

test('with HF_HUB_OFFLINE the hub that is there is not asked', async () => {
  await served();
  hub.requests.length = 0;
  const offline = { HF_HUB_OFFLINE: '1' };
  await served(offline);
  await told(start('builder', ['build', ID, '--dry-run'], offline));
  expect(hub.requests).toEqual([]);
  const missing = start('builder', ['serve', 'test/other'], offline);
  expect(await missing.ended).toBe(5);
  expect(missing.stderr()).toMatch(/HF_HUB_OFFLINE is set; nothing of test\/other is in the cache.*--from/);
});

test('gateway serve --upstream process starts its models without a hub', async () => {
  const keys = path.join(folder, 'keys.json');
  const { secret, record } = newKey('test', new Date(0));
  await changeKeys(keys, () => [record]);
  const catalog = path.join(folder, 'models.yaml');
  await writeFile(catalog, `models: [{ id: ${ID}, task: text-classification }]\n`);
  const asked = async () => {
    const args = ['serve', '--upstream', 'process', '--port', '0', '--keys', keys, '--catalog', catalog];
    const gateway = start('gateway', args);
    await waitFor(() => gateway.stdout() !== '');
    const response = await fetch(`${gateway.stdout().trim()}/${ID}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: secret },
      body: '{"text":"fine"}',
    });
    const answer = (await response.json()) as unknown;
    gateway.child.kill('SIGTERM');
    await gateway.ended;
    return answer;
  };
  const first = await asked();
  expect(first).toMatchObject({ error: null });
  await hub.close();
  expect(await asked()).toEqual(first);
});

test.each(['/dev/null/cache', '/proc/cache', '/etc/hostname/cache'])(
  'a --cache that can not be is told: %s',
  async (cache) => {
    const fetching = start('builder', ['fetch', ID, '--cache', cache]);
    expect(await fetching.ended).toBe(1);
    expect(fetching.stderr()).toMatch(/builder: can't write .*(?:--cache|move away what lies there)/);
  },
);

test("the address of a hub may hold a password: it is used, and told nobody; so is the hub client's own token", async () => {
  const withPassword = hub.url.replace('//', '//user:p%40ss@');
  const text = await told(start('builder', ['plan', ID, '--json'], { HF_ENDPOINT: withPassword }));
  const basic = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
  expect(new Set(hub.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([basic]));
  expect(text).not.toMatch(/p%40ss|p@ss/);
  const server = await served({ HF_ENDPOINT: withPassword });
  expect(server.answer).toMatchObject({ error: null });
  expect(server.stderr).not.toMatch(/p%40ss|p@ss/);

  hub.requests.length = 0;
  await writeFile(path.join(folder, 'token'), 'hf_of_the_login\n');
  await told(start('builder', ['plan', ID, '--json'], { HF_HOME: folder }));
  expect(hub.requests[0]?.headers.authorization).toBe('Bearer hf_of_the_login');
});

test('a serve that is killed takes its server along and leaves nothing behind', async () => {
  const temporary = await mkdtemp(path.join(tmpdir(), 'slipway-killed-'));
  const port = await freePort();
  const server = start('builder', ['serve', ID, '--port', String(port)], { TMPDIR: temporary });
  await waitFor(() => server.stderr().includes('opens the model'), 60_000);
  server.child.kill('SIGKILL');
  await server.ended;
  await waitFor(async () =>
    fetch(`http://127.0.0.1:${port}/livez`).then(
      () => false,
      () => true,
    ),
  );
  await waitFor(async () => (await readdir(temporary)).length === 0);
});
