import { readFile } from 'node:fs/promises';
import type { KeyList, ModelUsage } from '../../gateway/console/state.js';
import { readKeys } from '../../gateway/keys/key-file.js';
import { askConsole, closeConsoles, CONSOLE_KEY, type GivenConsole, openConsole } from '../fakes/console.js';
import { JSON_TYPE, record } from '../fakes/gateway.js';
import { readMetrics } from '../fakes/prometheus.js';
import { waitFor } from '../fakes/server.js';

const open = openConsole;
afterEach(closeConsoles);

describe('limits of one key', () => {
  async function withKey(given: GivenConsole = {}, limits?: object) {
    const opened = await open(given);
    const body = { name: 'the shop', ...(limits && { limits }) };
    const { id, key } = (await opened.ask('/api/keys', 'POST', body)).output as Record<string, string>;
    const set = (own: object | string, of = id) => opened.ask(`/api/keys/${of}/limits`, 'PUT', own);
    const shown = async () =>
      ((await opened.ask('/api/keys')).output as KeyList).keys.find((row) => row.id === id)!;
    const statuses = async (calls: number) => {
      const answers = [];
      for (let i = 0; i < calls; i++) answers.push((await opened.call('org/name', key)).status);
      return answers;
    };
    return { ...opened, id: id!, key, set, shown, statuses };
  }

  test('count from the next call on, for this key alone, until they are taken back', async () => {
    const { set, shown, statuses, call, key, id } = await withKey();
    expect(await shown()).toMatchObject({ own: {}, limits: { calls: 600, seconds: 60, concurrent: null } });
    expect((await set({ rate: { calls: 2, seconds: 3600 } })).output).toEqual({
      ...{ id, limits: { rate: { calls: 2, seconds: 3600 } } },
    });
    expect(await statuses(3)).toEqual([200, 200, 429]);
    const refused = await call('org/name', key);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 1700]).toEqual([429, true]);
    expect((await call('org/name')).headers.get('x-ratelimit-limit')).toBe('600');
    await set({ rate: { calls: 3, seconds: 60 }, concurrent: 5 });
    expect((await call('org/name', key)).headers.get('x-ratelimit-limit')).toBe('3');
    expect(await shown()).toMatchObject({ limits: { calls: 3, seconds: 60, concurrent: 5 } });
    await set({ concurrent: 5 });
    expect(await shown()).toMatchObject({ limits: { calls: 600, seconds: 60, concurrent: 5 } });
    await set({});
    expect(await shown()).toMatchObject({ own: {}, limits: { calls: 600, seconds: 60, concurrent: null } });
    expect(await statuses(5)).toEqual([200, 200, 200, 200, 200]);
  });

  test('are kept in the file, which the next gateway reads', async () => {
    const { set, keysFile } = await withKey({}, { rate: { calls: 1, seconds: 60 } });
    const { concurrent, rate } = (await readKeys(keysFile!)).at(-1)!.limits!;
    expect([rate, concurrent]).toEqual([{ calls: 1, seconds: 60 }, undefined]);
    await set({ concurrent: 2 });
    expect((await readKeys(keysFile!)).map(({ limits }) => limits)).toEqual([undefined, { concurrent: 2 }]);
    await set({});
    expect(await readFile(keysFile!, 'utf8')).not.toContain('limits');
  });

  test('of calls at the same time', async () => {
    const answers: (() => void)[] = [];
    const { set, call, key } = await withKey({
      container: (incoming, response) => {
        incoming.resume();
        response.setHeader('Content-Type', JSON_TYPE);
        answers.push(() => response.end('{"error":null,"output":"done"}'));
      },
    });
    await set({ concurrent: 1 });
    const first = call('org/name', key);
    await waitFor(() => answers.length === 1);
    expect((await call('org/name', key)).status).toBe(429);
    await set({ concurrent: 2 });
    const second = call('org/name', key);
    await waitFor(() => answers.length === 2);
    for (const answer of answers) answer();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
  });

  test.each([
    '[]',
    'null',
    '3',
    '{"rate":5}',
    '{"rate":{"calls":5}}',
    '{"rate":{"calls":0,"seconds":1}}',
    '{"rate":{"calls":-1,"seconds":1}}',
    '{"rate":{"calls":1.5,"seconds":1}}',
    '{"rate":{"calls":1e9,"seconds":1}}',
    '{"rate":{"calls":"5","seconds":1}}',
    '{"rate":{"calls":5,"seconds":0}}',
    '{"rate":{"calls":5,"seconds":1e10}}',
    '{"rate":{"calls":5,"seconds":null}}',
    '{"rate":{"calls":5,"seconds":1,"more":1}}',
    '{"concurrent":0}',
    '{"concurrent":null}',
    '{"concurrent":1e400}',
    '{"perMinute":5}',
    '{"__proto__":{"concurrent":1},"constructor":1}',
  ])('%s are none: nothing changes', async (own) => {
    const { set, keysFile, ask } = await withKey();
    const before = await readFile(keysFile!, 'utf8');
    expect((await set(own)).status).toBe(400);
    expect((await ask('/api/keys', 'POST', `{"name":"x","limits":${own}}`)).status).toBe(400);
    expect(await readFile(keysFile!, 'utf8')).toBe(before);
  });

  test('need a key that is there, and a file', async () => {
    const { set, address, cookie, id } = await withKey();
    for (const other of ['nothing', '__proto__', '..%2f..', 'constructor'])
      expect((await set({ concurrent: 1 }, other)).status).toBe(404);
    const put = { method: 'PUT', body: { concurrent: 1 } };
    expect((await askConsole(address, `/api/keys/${id}/limits`, put)).status).toBe(401);
    const bare = { ...put, headers: { 'x-slipway-console': '' } };
    expect((await askConsole(address, `/api/keys/${id}/limits`, bare, cookie)).status).toBe(403);
    const { ask } = await open({ keyNames: null });
    expect((await ask(`/api/keys/${record.id}/limits`, 'PUT', { concurrent: 1 })).status).toBe(409);
  });
});

test('usage has cost and tokens of a key by model, as /metrics', async () => {
  const { call, ask, metricsText, model } = await open({
    models: [{}, { modelId: 'org/dear', ramRequired: 1.5 }, { modelId: 'org/mute', task: 'fill-mask' }],
    container(incoming, response) {
      incoming.resume();
      const counts = { 'inference-tokens-in': '5', 'inference-tokens-out': '7' };
      response.writeHead(200, { 'Content-Type': JSON_TYPE, ...counts });
      response.end('{"error":null,"output":"done"}');
    },
  });
  for (const id of ['org/name', 'org/name', 'org/dear']) expect((await call(id)).status).toBe(200);
  await waitFor(async () => (await model('org/dear')).usage.calls === 1);
  const page = readMetrics(await metricsText());
  const of = (labels: Record<string, string>) => ({
    calls: page.sum('key_calls_total', labels),
    seconds: page.sum('key_seconds_total', labels),
    cost: page.sum('key_cost_dollars_total', labels),
    tokensIn: page.sum('key_tokens_total', { ...labels, direction: 'in' }),
    tokensOut: page.sum('key_tokens_total', { ...labels, direction: 'out' }),
  });
  const rows = (await ask(`/api/keys/${record.id}/usage`)).output as ModelUsage[];
  expect(rows.toSorted((a, b) => b.calls - a.calls)).toEqual([
    { model: 'org/name', ...of({ model: 'org/name' }) },
    { model: 'org/dear', ...of({ model: 'org/dear' }) },
  ]);
  expect(rows.map(({ cost }) => cost > 0)).toEqual([true, true]);
  const { keys } = (await ask('/api/keys')).output as KeyList;
  expect(keys[0]).toMatchObject({ id: record.id, ...of({}), calls: 3, tokensIn: 15, tokensOut: 21 });
  expect((await model('org/name')).usage).toMatchObject({ calls: 2, tokensIn: 10, tokensOut: 14 });
  expect((await model('org/mute')).usage).toMatchObject({ calls: 0, cost: 0, tokensIn: 0, tokensOut: 0 });
  expect((await ask('/api/keys/nothing/usage')).status).toBe(404);
});

test('the audit log says who did what and how it ended, and no key', async () => {
  const { ask, audited, address, cookie } = await open({
    models: [{}, { modelId: 'org/broken' }],
    failures: { 'org/broken': 'no file' },
  });
  const session = String(audited[0]!['session']);
  expect(audited).toEqual([
    {
      event: 'console-sign-in',
      session: expect.stringMatching(/^[0-9a-f]{12}$/),
      address: expect.stringContaining('127.0.0.1'),
    },
  ]);
  const made = (await ask('/api/keys', 'POST', { name: 'the shop', limits: { concurrent: 3 } })).output;
  const { id, key } = made as Record<string, string>;
  for (const [path, method, body] of [
    [`/api/keys/${id}/limits`, 'PUT', { rate: { calls: 5, seconds: 60 } }],
    [`/api/keys/${id}/limits`, 'PUT', {}],
    [`/api/keys/${id}/limits`, 'PUT', { concurrent: -1 }],
    [`/api/keys/${id}`, 'DELETE'],
    ['/api/keys/nothing', 'DELETE'],
    ['/api/models/org/name/warm', 'POST'],
    ['/api/models/org/broken/warm', 'POST'],
    [`/api/models/org/${'x'.repeat(500)}/warm`, 'POST'],
    ['/api/models/org/name/stop', 'POST'],
    ['/api/catalog/reload', 'POST'],
    ['/api/state', 'GET'],
    ['/session', 'DELETE'],
  ] as const)
    await ask(path, method, body);
  await askConsole(address, '/session', { method: 'POST', body: { key: 'wrong-key-of-somebody' } });
  await askConsole(address, '/api/catalog/reload', { method: 'POST' }, cookie);
  await waitFor(() => audited.length === 14);
  const told = audited
    .slice(1)
    .map(({ event, session: who, address: _address, ...facts }) => [event, who, facts]);
  const line = (event: string, facts: object, who: string | undefined = session) => [
    `console-${event}`,
    who,
    facts,
  ];
  expect(told).toEqual([
    line('key-create', { key: id, name: 'the shop', concurrent: 3, outcome: 'done' }),
    line('key-limits', { key: id, rate: '5/60s', outcome: 'done' }),
    line('key-limits', { key: id, outcome: 'done' }),
    line('key-limits', { key: id, outcome: 'invalid_input' }),
    line('key-revoke', { key: id, outcome: 'done' }),
    line('key-revoke', { key: 'nothing', outcome: 'not_found' }),
    line('warm-up', { model: 'org/name', outcome: 'done' }),
    line('warm-up', { model: 'org/broken', outcome: 'not_ready' }),
    line('warm-up', { model: `org/${'x'.repeat(196)}`, outcome: 'not_found' }),
    line('stop', { model: 'org/name', outcome: 'done' }),
    line('reload', { outcome: 'conflict' }),
    line('sign-out', {}),
    ['console-key-refused', undefined, {}],
  ]);
  for (const hidden of [key!, cookie.split('=')[1]!, CONSOLE_KEY, 'wrong-key', 'no file'])
    expect(JSON.stringify(audited)).not.toContain(hidden);
});
