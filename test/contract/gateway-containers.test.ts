import { createLimits } from '../../gateway/limits/limits.js';
import type { ReportedRun } from '../../gateway/usage/reported.js';
import { createReports } from '../../gateway/usage/reported.js';
import { closeServers, gateway, JSON_TYPE, record, secret } from '../fakes/gateway.js';

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
