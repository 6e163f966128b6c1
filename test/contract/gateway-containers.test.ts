import { jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLimits } from '../../gateway/limits/limits.js';
import { newKey, writeKeys } from '../../gateway/keys/key-store.js';
import type { ReportedRun } from '../../gateway/usage/reported.js';
import { createReports } from '../../gateway/usage/reported.js';
import { closeServers, gateway, JSON_TYPE, record, secret } from '../fakes/gateway.js';
import { freePort, modelEnv, ROOT, startServer, waitFor } from '../fakes/server.js';

jest.setTimeout(60_000);
afterEach(closeServers);

async function containers() {
  const told: { keyId: string; runs: readonly ReportedRun[] }[] = [];
  const base = await gateway({
    parts: {
      containers: {
        limits: createLimits({ calls: 100, seconds: 60 }),
        report: (keyId, runs) => void told.push({ keyId, runs }),
        version: '7.8.9',
      },
    },
  });
  const ask = (path: string, body?: unknown, authorization = `Key ${secret}`) =>
    fetch(new URL(`/container/v1/${path}`, base), {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return { told, ask };
}

const run = { model: 'org/name', task: 'chat', status: 200, milliseconds: 12 };

test('a key is known or not, and says whose it is', async () => {
  const { ask } = await containers();
  const known = await ask('validate', { model: 'org/name', task: 'chat', version: '1.0.0' });
  expect(known.headers.get('content-type')).toBe(JSON_TYPE);
  expect([known.status, await known.json()]).toEqual([
    200,
    { error: null, output: { valid: true, key: { id: record.id, name: 'test' } } },
  ]);
  for (const [path, body] of [
    ['validate', {}],
    ['events', { events: [] }],
    ['version', undefined],
  ] as const)
    expect((await ask(path, body, 'Key another')).status).toBe(401);
});

test('events count for the key, and what else they hold gets nowhere', async () => {
  const { ask, told } = await containers();
  const answer = await ask('events', { events: [{ ...run, body: 'a secret' }], key: 'x' });
  expect([answer.status, await answer.json()]).toEqual([200, { error: null, output: { counted: 1 } }]);
  expect(told).toEqual([{ keyId: record.id, runs: [run] }]);
});

test.each([
  [{}, 400],
  [{ events: 3 }, 400],
  [{ events: [{ ...run, model: '../../etc' }] }, 400],
  [{ events: [{ ...run, task: 'cooking' }] }, 400],
  [{ events: [{ ...run, status: 20 }] }, 400],
  [{ events: [{ ...run, milliseconds: -1 }] }, 400],
  [{ events: [{ ...run, milliseconds: 1e12 }] }, 400],
  [{ events: Array.from({ length: 1001 }, () => run) }, 400],
  ['{"events":[', 400],
  [{ events: [], more: 'x'.repeat(2 ** 19) }, 413],
])('%.60j is no report', async (body, status) => {
  const { ask, told } = await containers();
  const answer = await ask('events', body);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([status, JSON_TYPE]);
  expect(told).toEqual([]);
});

test('other methods and routes are told in the envelope', async () => {
  const { ask } = await containers();
  const wrong = await ask('events');
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
  expect((await ask('version', {})).status).toBe(405);
  expect((await ask('nothing')).status).toBe(404);
});

test('names of models that come from outside are not without end', () => {
  let day = '2026-11-22';
  const rowsOf = createReports(() => day);
  const runs = Array.from({ length: 1000 }, (_, i) => ({ ...run, model: `a/${i}` }));
  const rows = rowsOf('k', runs);
  expect(rows).toHaveLength(201);
  expect(rows.at(-1)).toMatchObject({ model: 'other', calls: 800, source: 'container', cost: 0 });
  expect(rowsOf('k2', [run])).toMatchObject([{ model: 'org/name', seconds: 0.012 }]);
  day = '2026-11-23';
  expect(rowsOf('k', [run])).toMatchObject([{ model: 'org/name', day }]);
});

test('a server that is pointed at the gateway is known, hears of the new version and is in the usage', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'slipway-gateway-'));
  const key = newKey('container', new Date());
  await writeKeys(join(dir, 'keys.json'), [key.record]);
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
