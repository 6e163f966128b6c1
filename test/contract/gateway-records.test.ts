import type { RequestListener } from 'node:http';
import { adminApp } from '../../gateway/http/admin.js';
import type { FinishedCall } from '../../gateway/records/finished-call.js';
import { createGatewayMetrics } from '../../gateway/records/metrics.js';
import { usageRow } from '../../gateway/records/usage-row.js';
import { countWaiting } from '../../gateway/upstream/count-waiting.js';
import type { Upstream } from '../../gateway/upstream/upstream.js';
import { createServer } from 'node:http';
import { closeServers, gateway, JSON_TYPE, record, secret, started } from '../fakes/gateway.js';
import { waitFor } from '../fakes/server.js';

afterEach(closeServers);

const container: RequestListener = (request, response) => {
  request.resume();
  response.setHeader('Content-Type', JSON_TYPE);
  response.setHeader('inference-tokens-in', '5').setHeader('inference-tokens-out', '2');
  response.end('{"error":null,"output":"done"}');
};

/** A gateway whose model has just been started, and all that is counted of its calls. */
async function counted() {
  const calls: FinishedCall[] = [];
  const model = await started(createServer(container));
  const upstream: Upstream = {
    acquire: async () => ({ url: model, cold: true, release: () => {} }),
    close: async () => {},
  };
  const watched = countWaiting(upstream);
  const running = () => [{ modelId: 'org/name', state: 'ready' as const, leases: 1, ramRequired: 1.5 }];
  const metrics = createGatewayMetrics({
    running,
    waiting: watched.waiting,
    activeCalls: () => 0,
    pendingBytes: () => 0,
    pendingRequests: () => 0,
  });
  const onCall = (call: FinishedCall) => (metrics.count(call), calls.push(call));
  const base = await gateway({ parts: { upstream: watched, onCall }, limits: { calls: 6 } });
  const admin = await started(createServer(adminApp(metrics)));
  const post = async (id: string, body: string, authorization = secret) => {
    const before = calls.length;
    const answer = await fetch(`${base}/${id}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body,
    });
    await answer.text();
    await waitFor(() => calls.length > before);
  };
  return { calls, post, text: async () => (await fetch(`${admin}/metrics`)).text() };
}

test('every call is counted once, by models of the catalogue alone', async () => {
  const { calls, post, text } = await counted();
  await post('org/name', '{"text":"x"}');
  await post('org/name', '{"text":3}');
  for (let i = 0; i < 3; i++) await post(`made/up-${i}`, '{}');
  await post('org/name', '{}', 'slw_wrong');
  await post('org/name', '{"text":"x"}');
  await post('org/name', '{"text":"x"}');
  expect(calls.map(({ status, code }) => [status, code])).toEqual([
    ...[
      [200, undefined],
      [400, 'invalid_input'],
      [404, 'not_found'],
      [404, 'not_found'],
      [404, 'not_found'],
    ],
    ...[
      [401, 'unauthorized'],
      [200, undefined],
      [429, 'rate_limited'],
    ],
  ]);
  const lines = (await text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines).toEqual(
    expect.arrayContaining([
      'slipway_gateway_requests_total{model="org/name",task="text-generation",status="200"} 2',
      'slipway_gateway_requests_total{model="other",task="other",status="404"} 3',
      'slipway_gateway_errors_total{model="org/name",code="invalid_input"} 1',
      'slipway_gateway_errors_total{model="other",code="unauthorized"} 1',
      'slipway_gateway_errors_total{model="other",code="rate_limited"} 1',
      'slipway_gateway_cold_starts_total{model="org/name"} 2',
      'slipway_gateway_call_seconds_count{model="org/name"} 2',
      'slipway_gateway_wait_seconds_count{model="org/name"} 2',
      'slipway_gateway_waiting 0',
      'slipway_gateway_instances{model="org/name",state="ready"} 1',
      'slipway_gateway_model_memory_bytes{model="org/name"} 1500000000',
      'slipway_gateway_under_way{model="org/name"} 1',
    ]),
  );
  expect(lines.join('\n')).not.toMatch(/made|slw_/);
});

test('usage is of known keys and models', async () => {
  const { calls, post } = await counted();
  await post('org/name', '{"text":"x"}');
  await post('org/name', '{"text":3}');
  await post('no/such', '{}');
  await post('org/name', '{}', 'slw_wrong');
  const [done, refused, ...others] = calls.map(usageRow);
  expect(done).toMatchObject({ key: record.id, model: 'org/name', calls: 1, errors: 0, coldStarts: 1 });
  expect(done).toMatchObject({ tokensIn: 5, tokensOut: 2 });
  expect(done!.cost).toBeCloseTo(done!.seconds * 0.0000872083, 12);
  expect(done!.seconds).toBeGreaterThan(0);
  expect(refused).toMatchObject({ calls: 1, errors: 1, seconds: 0, cost: 0, tokensIn: 0 });
  expect(others).toEqual([undefined, undefined]);
});

test('what is known of a refused key is a piece of its hash', async () => {
  const { calls, post } = await counted();
  await post('org/name', '{}', 'slw_wrong');
  expect(calls[0]).toMatchObject({
    address: '127.0.0.1',
    refusedKey: expect.stringMatching(/^[\da-f]{12}$/),
  });
  expect(JSON.stringify(calls)).not.toContain('slw_wrong');
});
