import { jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { changeKeys } from '../../gateway/keys/key-file.js';
import { newKey } from '../../gateway/keys/key-store.js';
import { closeServers, started } from '../fakes/gateway.js';
import { openAiAnswer, provider, PROVIDER_KEY } from '../fakes/provider.js';
import { freePort, modelEnv, ROOT, startServer, waitFor } from '../fakes/server.js';

jest.setTimeout(60_000);
afterEach(closeServers);

describe('gateway serve', () => {
  test('runs the demo model when it is asked for, and nothing stays when the gateway is killed', async () => {
    const port = await freePort();
    const args = ['dist/gateway/main.js', 'serve', '--upstream', 'process', '--port', String(port)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const base = String((await once(child.stdout, 'data'))[0]).trim();
    const key = /slw_\S+/.exec(said)![0];
    const asked = { text: 'The harbour', params: { max_new_tokens: 4 } };
    const answer = await fetch(`${base}/slipway/harbour-demo`, {
      method: 'POST',
      headers: { authorization: `Key ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    });
    expect({ status: answer.status, ...((await answer.json()) as object) }).toMatchObject({
      status: 200,
      error: null,
      output: expect.stringMatching(/^The harbour \w+/),
    });
    expect(answer.headers.get('inference-cold-start')).toBe('true');
    const model = Number(/listens on port (\d+)/.exec(said)![1]);
    child.kill('SIGKILL');
    await waitFor(() =>
      fetch(`http://127.0.0.1:${model}/livez`).then(
        () => false,
        () => true,
      ),
    );
  });

  test('its address is all that stdout gets; lines for machines go to stderr', async () => {
    const catalog = join(await mkdtemp(join(tmpdir(), 'slipway-serve-')), 'models.yaml');
    await writeFile(catalog, 'models: []');
    const args = [
      'dist/gateway/main.js',
      'serve',
      '--upstream',
      'static',
      '--catalog',
      catalog,
      '--port',
      '0',
    ];
    const env = { ...process.env, LOG_FORMAT: 'json' };
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [said, told] = [child.stdout, child.stderr].map((stream) => text(stream));
    const base = String((await once(child.stdout, 'data'))[0]).trim();
    await (await fetch(`${base}/no/such`)).text();
    child.kill('SIGTERM');
    expect([await said, await once(child, 'exit')]).toEqual([`${base}\n`, [0, null]]);
    expect(JSON.parse((await told!).trim().split('\n').at(-1)!)).toMatchObject({ level: 'info' });
  });

  test('models that others serve stand beside those that it starts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'slipway-serve-'));
    const { url, asked } = await provider(openAiAnswer());
    const remote = { kind: 'openai', url, model: 'gpt-x', keyFile: 'key' };
    await writeFile(join(folder, 'key'), PROVIDER_KEY);
    await writeFile(
      join(folder, 'models.json'),
      JSON.stringify({
        models: [
          { id: 'org/remote', task: 'chat', remote },
          { id: 'org/own', task: 'text-generation', from: join(ROOT, 'demo/model') },
        ],
      }),
    );
    const options = ['--upstream', 'process', '--catalog', join(folder, 'models.json'), '--port', '0'];
    const child = spawn(process.execPath, ['dist/gateway/main.js', 'serve', ...options], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const base = String((await once(child.stdout, 'data'))[0]).trim();
    const call = async (id: string, body: object) => {
      const answer = await fetch(`${base}/${id}`, {
        ...{ method: 'POST', body: JSON.stringify(body) },
        headers: { authorization: /slw_\S+/.exec(said)![0], 'content-type': 'application/json' },
      });
      return { status: answer.status, cold: answer.headers.get('inference-cold-start') };
    };
    const messages = [{ role: 'user', content: 'x' }];
    expect(await call('org/remote', { messages })).toEqual({ status: 200, cold: null });
    expect(await call('org/own', { text: 'a', params: { max_new_tokens: 1 } })).toEqual({
      ...{ status: 200, cold: 'true' },
    });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(asked[0]!.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
    expect(said).not.toContain(PROVIDER_KEY);
  });

  test('what only containers can keep is refused for processes', async () => {
    const args = ['dist/gateway/main.js', 'serve', '--upstream', 'process', '--offline', '--port', '0'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    expect(await text(child.stderr)).toMatch(
      /gateway: --offline is for --upstream docker.*; leave it out\n$/,
    );
  });

  test('with a port that is taken it ends before it starts anything', async () => {
    const taken = new URL(await started(createServer())).port;
    const args = ['dist/gateway/main.js', 'serve', '--upstream', 'static', '--port', taken];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    expect(await text(child.stderr)).toBe(
      `gateway: port ${taken} of 127.0.0.1 can't be opened: it is taken; give another --port or --host\n`,
    );
  });
});

test('a server that is pointed at the gateway is known, hears of the new version and is in the usage', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'slipway-gateway-'));
  const key = newKey('container', new Date());
  await changeKeys(join(dir, 'keys.json'), () => [key.record]);
  const port = await freePort();
  const files = [
    '--keys',
    join(dir, 'keys.json'),
    '--usage',
    join(dir, 'usage.jsonl'),
    '--upstream',
    'process',
  ];
  const child = spawn(process.execPath, ['dist/gateway/main.js', 'serve', '--port', String(port), ...files], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  const at = `http://127.0.0.1:${port}/container/v1`;
  const server = await startServer({
    ...(await modelEnv(join(ROOT, 'test/fixtures/zoo/text-classification/distilbert/repo'), {
      task: 'text-classification',
      id: 'org/tiny',
    })),
    ...{
      KEY: key.secret,
      ANALYTICS_URL: `${at}/events`,
      UPDATE_URL: `${at}/version`,
      VALIDATE_URL: `${at}/validate`,
    },
  });
  await server.ready();
  expect((await server.run({ text: 'the sea is calm' })).status).toBe(200);
  expect((await server.run({ text: 3 })).status).toBe(400);
  const rows = async () =>
    (await readFile(join(dir, 'usage.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { calls: number; errors: number });
  const sum = async () => (await rows()).reduce((all, { calls }) => all + calls, 0);
  await waitFor(async () => (await sum()) === 2);
  expect((await rows())[0]).toMatchObject({
    key: key.record.id,
    model: 'org/tiny',
    source: 'container',
    cost: 0,
  });
  expect(server.output()).toContain('KEY is accepted where VALIDATE_URL asks');
  expect(server.output()).not.toContain(key.secret);
  await server.stop();
  child.kill();
  await once(child, 'exit');
});
