import { request } from 'node:http';
import { fixedCatalog } from '../../gateway/catalog/entries.js';
import { createHistory } from '../../gateway/console/history.js';
import { createIncidents } from '../../gateway/console/incidents.js';
import { readState } from '../../gateway/console/read-state.js';
import type { ConsoleState, KeyList, Sample } from '../../gateway/console/state.js';
import type { FinishedCall } from '../../gateway/records/finished-call.js';
import { createGatewayMetrics } from '../../gateway/records/metrics.js';
import { askConsole, closeConsoles, CONSOLE_KEY, openConsole } from '../fakes/console.js';
import { figuresBy, figuresShown } from '../fakes/console-figures.js';
import { JSON_TYPE, record } from '../fakes/gateway.js';
import { entry } from '../fakes/launcher.js';
import { readMetrics } from '../fakes/prometheus.js';
import { waitFor } from '../fakes/server.js';

const open = openConsole;
afterEach(closeConsoles);

/** The status line of a request with a Host header of its own. */
function statusFor(address: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(address, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    })
      .on('error', reject)
      .end();
  });
}

test('the key of the console opens a session, whose cookie no script and no other page gets', async () => {
  const { address, cookie, ask } = await open();
  expect(cookie).toMatch(/^slipway_console_\d+=[\w-]{43}$/);
  const again = await askConsole(address, '/session', { method: 'POST', body: { key: CONSOLE_KEY } });
  expect(again.headers.get('set-cookie')).toMatch(
    /^slipway_console_\d+=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  expect((await ask('/session')).output).toEqual({ isOpen: true });
  expect((await askConsole(address, '/session')).output).toEqual({ isOpen: false });
});

test.each(['/api/state', '/api/events', '/api/keys'])('%s needs a session', async (path) => {
  const { address, cookie } = await open();
  expect((await askConsole(address, path)).status).toBe(401);
  expect((await askConsole(address, path, {}, `${cookie}x`)).status).toBe(401);
});

test('a session that was signed out is over, for streams as well', async () => {
  const { address, cookie, ask } = await open();
  const stream = await fetch(`${address}/api/events`, { headers: { cookie } });
  await ask('/session', 'DELETE');
  expect((await ask('/api/state')).status).toBe(401);
  expect(await stream.text()).toContain('data: {');
});

test('a wrong key, and a caller’s key, open nothing; tries are limited', async () => {
  const { address } = await open();
  const attempt = (key: unknown) =>
    askConsole(address, '/session', { method: 'POST', body: { key } as object });
  const wrong = await attempt('nonsense');
  expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null]);
  expect((await attempt(3)).status).toBe(400);
  const statuses = [];
  for (let i = 0; i < 10; i++) statuses.push((await attempt(`guess-${i}`)).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 401, 429, 429, 429]);
  const late = await attempt(CONSOLE_KEY);
  expect(late.status).toBe(429);
  expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('changes need the header and the type that no other page can send, and the cookie', async () => {
  const { address, cookie } = await open();
  const change = (headers: Record<string, string>, given = cookie) =>
    askConsole(address, '/api/keys', { method: 'POST', body: { name: 'x' }, headers }, given);
  expect((await change({ 'x-slipway-console': '' })).status).toBe(403);
  expect((await change({ 'content-type': 'text/plain' })).status).toBe(415);
  expect((await change({ 'sec-fetch-site': 'same-site' })).status).toBe(403);
  expect((await change({}, '')).status).toBe(401);
  expect((await change({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  const bare = { method: 'POST', headers: { cookie } };
  for (const path of ['/session', '/api/models/org/name/stop', '/api/catalog/reload'])
    expect((await fetch(address + path, bare)).status).toBe(403);
});

test('on a loopback address it answers to this machine’s names alone', async () => {
  const { address } = await open();
  const port = new URL(address).port;
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
    expect(await statusFor(`${address}/session`, host)).toBe(200);
  for (const host of [`evil.example:${port}`, 'localhost.evil.example', '192.168.1.1', 'a b'])
    expect(await statusFor(`${address}/session`, host)).toBe(403);
  const anywhere = await open({ isLocal: false });
  expect(await statusFor(`${anywhere.address}/session`, 'gateway.example')).toBe(200);
});

test('the page loads its own files alone, and is there without a session', async () => {
  const { address } = await open();
  const page = await fetch(address, { headers: { accept: 'text/html' } });
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  const files = [...(await page.text()).matchAll(/(?:href|src)="(console[^"]+)"/g)];
  expect(files).toHaveLength(2);
  for (const [, file] of files) expect((await fetch(`${address}/${file}`)).status).toBe(200);
});

test('all figures are those of /metrics', async () => {
  const models = [{}, { modelId: 'org/other' }, { modelId: 'org/broken' }];
  const { call, metricsText, state, ask } = await open({ models, failures: { 'org/broken': 'no file' } });
  for (const id of ['org/name', 'org/name', 'org/other', 'org/broken', 'org/none'])
    await (await call(id)).text();
  await (await call('org/name', 'slw_wrong')).text();
  await waitFor(async () => (await state()).totals.requests === 6);
  const [page, shown] = [readMetrics(await metricsText()), await state()];
  const keys = (await ask('/api/keys')).output as KeyList;
  expect(figuresShown(shown, keys)).toEqual(figuresBy(page, shown, keys));
  const { totals, memory } = shown;
  expect([totals.requests, totals.errors, totals.coldStarts, totals.servers]).toEqual([6, 3, 2, 2]);
  expect([memory.models, memory.budget]).toEqual([1e9, 2e9]);
  expect(keys.keys[0]).toMatchObject({ id: record.id, calls: 4 });
});

test('the same with 40 models that take turns in memory, once their load is over', async () => {
  const models = Array.from({ length: 40 }, (_, i) => ({ modelId: `org/model-${i}` }));
  const { call, metricsText, state, ask } = await open({ models, rate: { calls: 5000, seconds: 60 } });
  let sent = 0;
  const caller = async () => {
    for (let mine = sent++; mine < 800; mine = sent++)
      await (await call(`org/model-${(mine * 7 + (mine % 3)) % 40}`)).text();
  };
  const load = Promise.all(Array.from({ length: 12 }, caller));
  const during = await state();
  await load;
  await waitFor(async () => (await state()).totals.requests === 800);
  await waitFor(async () => (await state()).totals.underWay === 0);
  const [page, shown] = [readMetrics(await metricsText()), await state()];
  const keys = (await ask('/api/keys')).output as KeyList;
  expect(figuresShown(shown, keys)).toEqual(figuresBy(page, shown, keys));
  expect(shown.totals).toMatchObject({ errors: 0, waiting: 0 });
  expect(shown.totals.coldStarts).toBeGreaterThanOrEqual(40);
  expect(shown.models.every(({ requests }) => requests > 0)).toBe(true);
  for (const { memory } of [during, shown]) expect(memory.models).toBeLessThanOrEqual(2e9);
});

test('charts of a model are its own samples, from its first call on', async () => {
  const { call, ask } = await open({ models: [{}, { modelId: 'org/idle' }] });
  // One may be taken while the first call is under way.
  const samples = async (id: string) =>
    ((await ask(`/api/models/${id}/history`)).output as Sample[]).filter(({ requests }) => requests > 0);
  await (await call('org/name')).text();
  await waitFor(async () => (await samples('org/name')).length >= 3);
  const taken = await samples('org/name');
  expect(taken.map(({ requests, coldStarts, memory }) => [requests, coldStarts, memory])).toEqual(
    taken.map(() => [1, 1, 0.5e9]),
  );
  expect(taken.map(({ p95 }) => p95 !== null)).toEqual(taken.map((_, i) => i === 0));
  expect([await samples('org/idle'), await samples('org/none')]).toEqual([[], []]);
});

test('a state of a thousand models that were called is read in a moment', async () => {
  const metrics = createGatewayMetrics({
    ...{ running: () => [], waiting: () => 0, activeCalls: () => 0 },
    ...{ pendingBytes: () => 0, pendingRequests: () => 0 },
  });
  const ids = Array.from({ length: 1000 }, (_, i) => `org/model-${i}`);
  const call = { status: 200, milliseconds: 20, waitedMs: 1, cold: false };
  for (const modelId of ids) metrics.count({ ...call, model: { modelId, task: 'chat' } } as FinishedCall);
  const catalog = fixedCatalog(ids.map((modelId) => entry(modelId)));
  const history = createHistory(metrics, () => ids);
  const sources = { catalog, upstream: {}, metrics, incidents: createIncidents(), playground: null };
  await readState(sources, history);
  const started = performance.now();
  const { models } = await readState(sources, history);
  // A search through the values of all models for each of them took most of a minute.
  expect(performance.now() - started).toBeLessThan(5000);
  expect(models.map(({ requests }) => requests)).toEqual(ids.map(() => 1));
  history.close();
});

test('a model is cold, warm and busy by its servers; a failed one says why', async () => {
  const release: (() => void)[] = [];
  const { model, ask, call } = await open({
    models: [{}, { modelId: 'org/broken' }],
    failures: { 'org/broken': 'its file is damaged' },
    container: (incoming, response) => {
      incoming.resume();
      response.setHeader('Content-Type', JSON_TYPE);
      release.push(() => response.end('{"error":null,"output":"done"}'));
    },
  });
  expect((await model('org/name')).state).toBe('cold');
  expect((await ask('/api/models/org/name/warm', 'POST')).output).toEqual({ started: true });
  expect((await ask('/api/models/org/name/warm', 'POST')).output).toEqual({ started: false });
  expect(await model('org/name')).toMatchObject({ state: 'warm', servers: 1, coldStarts: 0, size: 0.5e9 });
  const called = call('org/name');
  await waitFor(() => release.length === 1);
  expect(await model('org/name')).toMatchObject({ state: 'busy', underWay: 1 });
  expect((await ask('/api/models/org/name/stop', 'POST')).output).toEqual({ stopping: 1 });
  expect((await model('org/name')).state).toBe('stopping');
  release[0]!();

  expect((await called).status).toBe(200);
  await waitFor(async () => (await model('org/name')).state === 'cold');
  const failed = await ask('/api/models/org/broken/warm', 'POST');
  expect([failed.status, failed.error]).toEqual([503, expect.stringContaining('does not start')]);
  expect(await model('org/broken')).toMatchObject({ state: 'failed', reason: 'its file is damaged' });
});

test('what can’t be done is refused with the reason', async () => {
  const remote = { url: 'http://127.0.0.1:9', kind: 'openai', limits: {} } as never;
  const { ask, model } = await open({ models: [{ modelId: 'org/far', remote }], keyNames: null });
  expect(await model('org/far')).toMatchObject({ state: 'elsewhere' });
  for (const action of ['warm', 'stop'])
    expect(await ask(`/api/models/org/far/${action}`, 'POST')).toMatchObject({
      status: 409,
      error: expect.stringContaining('another server answers'),
    });
  expect((await ask('/api/models/org/none/warm', 'POST')).status).toBe(404);
  expect(await ask('/api/catalog/reload', 'POST')).toMatchObject({ status: 409 });
  expect(await ask('/api/keys', 'POST', { name: 'x' })).toMatchObject({
    status: 409,
    error: expect.stringContaining('--keys'),
  });
  expect((await ask('/api/nothing')).status).toBe(404);
});

test('the catalogue is read again', async () => {
  let times = 0;
  const { ask } = await open({ catalog: { reload: async () => void times++ } });
  expect((await ask('/api/catalog/reload', 'POST')).output).toEqual({ models: 1 });
  expect(times).toBe(1);
});

test('a key that is made works at once and is shown once; one that is revoked does not work any more', async () => {
  const { ask, call } = await open();
  const list = async () => ((await ask('/api/keys')).output as KeyList).keys;
  const { id, key } = (await ask('/api/keys', 'POST', { name: 'the shop' })).output as Record<string, string>;
  expect((await call('org/name', key)).status).toBe(200);
  expect((await list()).map(({ name }) => name)).toEqual(['test', 'the shop']);
  expect(JSON.stringify(await list())).not.toContain(key);
  expect((await ask(`/api/keys/${id}`, 'DELETE')).status).toBe(200);
  expect((await call('org/name', key)).status).toBe(401);
  expect((await ask(`/api/keys/${id}`, 'DELETE')).status).toBe(404);
  for (const body of [{}, { name: '' }, { name: 'x'.repeat(201) }, { name: 'x', more: 1 }])
    expect((await ask('/api/keys', 'POST', body)).status).toBe(400);
});

test('errors of one kind share a row, without what callers have sent', async () => {
  const { call, state } = await open();
  for (let i = 0; i < 3; i++) await (await call(`secret/path-${i}`)).text();
  await (await call('org/name', 'slw_secret')).text();
  await waitFor(async () => (await state()).errors.length === 2);
  const { errors } = await state();
  expect(errors).toMatchObject([
    { code: 'unauthorized', status: 401, model: null, key: null, times: 1 },
    { code: 'not_found', status: 404, model: null, key: record.id, times: 3 },
  ]);
  expect(JSON.stringify(errors)).not.toContain('secret');
});

test('states come while a page listens, and nothing is kept of one that has left', async () => {
  const { address, cookie, listeners } = await open();
  const leaving = new AbortController();
  const stream = await fetch(`${address}/api/events`, { headers: { cookie }, signal: leaving.signal });
  expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (text.split('\n\n').length < 4) text += (await reader.read()).value;
  const event = JSON.parse(text.split('\n\n')[0]!.replace(/^data: /, '')) as ConsoleState;
  expect(event.models.map(({ id }) => id)).toEqual(['org/name']);
  expect(listeners()).toBe(1);
  leaving.abort();
  await reader.read().catch(() => undefined);
  await waitFor(() => listeners() === 0);
});

test('no more than 16 pages listen at once', async () => {
  const { address, cookie, listeners } = await open();
  const leaving = new AbortController();
  const listen = () => fetch(`${address}/api/events`, { headers: { cookie }, signal: leaving.signal });
  const all = await Promise.all(Array.from({ length: 16 }, listen));
  expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 16 }, () => 200));
  expect((await listen()).status).toBe(503);
  leaving.abort();
  await waitFor(() => listeners() === 0);
});
