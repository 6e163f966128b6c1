import type { OperatorAction } from '../../gateway/console/record-actions.js';
import type { KeyList } from '../../gateway/console/state.js';
import { askConsole, CONSOLE_KEY, consoleGateway, type GivenConsole, signIn } from '../fakes/console.js';
import { closeServers, record, secret } from '../fakes/gateway.js';
import { waitFor } from '../fakes/server.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await closeServers();
});

async function open(given: GivenConsole = {}) {
  const actions: OperatorAction[] = [];
  const gateway = await consoleGateway({ onAction: (action) => void actions.push(action), ...given });
  closing.push(gateway.close);
  const cookie = await signIn(gateway.address);
  const ask = (path: string, method = 'GET', body?: object) =>
    askConsole(gateway.address, path, { method, ...(body && { body }) }, cookie);
  const keyOf = async (id: string) =>
    ((await ask('/api/keys')).output as KeyList).keys.find((key) => key.id === id)!;
  return { ...gateway, actions, ask, keyOf };
}

const LIMITS = `/api/keys/${record.id}/limits`;

test('a key gets limits of its own at once, and those of all again', async () => {
  const { ask, call, keyOf } = await open();
  const limitSeen = async () => (await call('org/name')).headers.get('x-ratelimit-limit');
  expect(await limitSeen()).toBe('1000');
  const own = { calls: 2, seconds: 600, concurrent: 5 };
  expect(await ask(LIMITS, 'POST', { limits: own })).toMatchObject({ status: 200 });
  expect((await keyOf(record.id)).limits).toEqual(own);
  expect([await limitSeen(), (await call('org/name')).status]).toEqual(['2', 200]);
  const refused = await call('org/name');
  expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([
    429,
    expect.closeTo(300, -1),
  ]);
  expect((await ask(LIMITS, 'POST', { limits: null })).status).toBe(200);
  expect((await keyOf(record.id)).limits).toBeNull();
  expect((await call('org/name')).status).toBe(200);
});

test('concurrent calls of one key are limited, those of another are not', async () => {
  const release: (() => void)[] = [];
  const { ask, call } = await open({
    container: (incoming, response) => {
      incoming.resume();
      response.setHeader('Content-Type', 'application/json');
      release.push(() => response.end('{"error":null,"output":"done"}'));
    },
  });
  await ask(LIMITS, 'POST', { limits: { calls: 100, seconds: 1, concurrent: 1 } });
  const { key } = (await ask('/api/keys', 'POST', { name: 'other' })).output as { key: string };
  const first = call('org/name', secret);
  await waitFor(() => release.length === 1);
  expect((await call('org/name', secret)).status).toBe(429);
  const others = [call('org/name', key), call('org/name', key)];
  await waitFor(() => release.length === 3);
  for (const answer of release) answer();
  expect((await Promise.all([first, ...others])).map(({ status }) => status)).toEqual([200, 200, 200]);
});

test('a key is made with limits, and limits that can’t be are refused by their field', async () => {
  const { ask, keyOf } = await open();
  const limits = { calls: 3, seconds: 0.5 };
  const { id } = (await ask('/api/keys', 'POST', { name: 'shop', limits })).output as { id: string };
  expect((await keyOf(id)).limits).toEqual({ ...limits, concurrent: null });
  for (const [field, wrong] of [
    ['limits.calls', { calls: 0, seconds: 1 }],
    ['limits.calls', { calls: 1.5, seconds: 1 }],
    ['limits.seconds', { calls: 1, seconds: 0 }],
    ['limits.concurrent', { calls: 1, seconds: 1, concurrent: -1 }],
    ['limits', { calls: 1, seconds: 1, burst: 2 }],
    ['limits', 'none'],
  ] as const)
    expect(await ask(LIMITS, 'POST', { limits: wrong })).toMatchObject({
      status: 400,
      error: expect.stringContaining(`${field}: `),
    });
  expect((await ask(LIMITS, 'POST', {})).status).toBe(400);
  expect((await ask('/api/keys/nobody/limits', 'POST', { limits: null })).status).toBe(404);
});

test('what operators do is recorded, with its outcome and without any key', async () => {
  const { address, actions, ask } = await open({ failures: {}, catalog: { reload: async () => {} } });
  const steps = [
    ['/api/models/org/name/warm', 'POST'],
    ['/api/models/org/name/stop', 'POST'],
    ['/api/models/org/none/warm', 'POST'],
    ['/api/catalog/reload', 'POST'],
    [LIMITS, 'POST', { limits: { calls: 5, seconds: 60, concurrent: 2 } }],
    [LIMITS, 'POST', { limits: null }],
  ] as [path: string, method: string, body?: object][];
  for (const step of steps) await ask(...step);
  const made = (await ask('/api/keys', 'POST', { name: 'the shop' })).output as { id: string; key: string };
  await ask(`/api/keys/${made.id}`, 'DELETE');
  await ask('/api/keys/nobody', 'DELETE');
  await askConsole(address, '/session', { method: 'POST', body: { key: 'nonsense' } });
  await waitFor(() => actions.length === 11);
  expect(actions.every((action) => action.address.includes('127.0.0.1'))).toBe(true);
  expect(actions.map(({ address: _address, ...action }) => action)).toEqual([
    { action: 'signed-in', status: 200 },
    { action: 'warm', status: 200, model: 'org/name' },
    { action: 'stop', status: 200, model: 'org/name' },
    { action: 'warm', status: 404, model: 'org/none' },
    { action: 'reload', status: 200 },
    { action: 'limit-key', status: 200, key: record.id, limits: '5/60s, 2 at once' },
    { action: 'limit-key', status: 200, key: record.id, limits: 'those of all keys' },
    { action: 'create-key', status: 200, key: made.id, name: 'the shop' },
    { action: 'revoke-key', status: 200, key: made.id },
    { action: 'revoke-key', status: 404, key: 'nobody' },
    { action: 'refused', status: 401 },
  ]);
  const text = JSON.stringify(actions);
  for (const hidden of [made.key, CONSOLE_KEY, 'nonsense']) expect(text).not.toContain(hidden);
});

test.each([
  [{ 'x-forwarded-proto': 'https' }, true],
  [{ 'x-forwarded-proto': 'HTTPS, http' }, true],
  [{ forwarded: 'for=192.0.2.43;proto="https";by=x, proto=http' }, true],
  [{ 'x-forwarded-proto': 'http, https' }, false],
  [{ forwarded: 'for=https' }, false],
  [{}, false],
] as [Record<string, string>, boolean][])('with %j the cookie is Secure: %s', async (headers, isSecure) => {
  const { address } = await open();
  const body = { key: CONSOLE_KEY };
  const { headers: answered } = await askConsole(address, '/session', { method: 'POST', body, headers });
  expect(answered.get('set-cookie')!.endsWith('; Secure')).toBe(isSecure);
});
