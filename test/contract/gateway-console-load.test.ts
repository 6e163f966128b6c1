import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsoleState } from '../../gateway/console/state.js';
import { askConsole, consoleGateway, signIn } from '../fakes/console.js';
import { closeServers, JSON_TYPE } from '../fakes/gateway.js';
import { sumOf } from '../fakes/metrics-text.js';

afterEach(closeServers);

const MODELS = Array.from({ length: 40 }, (_, i) => ({ modelId: `org/model-${i}`, ramRequired: 0.25 }));
const CALLERS = 16;
const CALLS_EACH = 45;

/** Counters, which only grow: name in the state, and in /metrics. */
const COUNTERS = [
  ['requests', 'requests_total'],
  ['errors', 'errors_total'],
  ['coldStarts', 'cold_starts_total'],
] as const;

/** Not random, so that a failure comes again. */
const modelOf = (caller: number, call: number) => `org/model-${(caller * 7 + call * 11 + (call % 3)) % 41}`;

test('forty models under load: what the console tells is what /metrics counts, during and after', async () => {
  const gateway = await consoleGateway({
    models: MODELS,
    failures: { 'org/model-13': 'its file is damaged' },
    container: async (request, response) => {
      request.resume();
      await sleep(5);
      response.setHeader('Content-Type', JSON_TYPE);
      response.end('{"error":null,"output":"done"}');
    },
  });
  const cookie = await signIn(gateway.address);
  const state = async () =>
    (await askConsole(gateway.address, '/api/state', {}, cookie)).output as ConsoleState;
  const statuses = new Map<number, number>();
  const caller = async (_: unknown, number: number) => {
    for (let call = 0; call < CALLS_EACH; call++) {
      const answer = await gateway.call(modelOf(number, call));
      await answer.text();
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    }
  };
  const progress = { isRunning: true };
  const load = Promise.all(Array.from({ length: CALLERS }, caller)).finally(
    () => (progress.isRunning = false),
  );
  let looks = 0;
  let busiest = 0;
  for (; progress.isRunning; looks++) {
    const [before, seen, after] = [
      await gateway.metricsText(),
      await state(),
      await gateway.metricsText(),
    ] as const;
    for (const [name, metric] of COUNTERS) {
      expect(seen.totals[name]).toBeGreaterThanOrEqual(sumOf(before, metric));
      expect(seen.totals[name]).toBeLessThanOrEqual(sumOf(after, metric));
    }
    expect(seen.models).toHaveLength(40);
    expect(seen.memory.models).toBeLessThanOrEqual(seen.memory.budget!);
    const sum = (read: (model: ConsoleState['models'][number]) => number) =>
      seen.models.reduce((total, model) => total + read(model), 0);
    // Calls of a name that the catalogue lacks have no model.
    expect(sum(({ requests }) => requests)).toBeLessThanOrEqual(seen.totals.requests);
    expect(sum(({ underWay }) => underWay)).toBe(seen.totals.underWay);
    expect(sum(({ servers }) => servers)).toBe(seen.totals.servers);
    busiest = Math.max(busiest, seen.totals.underWay);
  }
  await load;
  // So that the test has seen what it says.
  expect(looks).toBeGreaterThan(5);
  expect(busiest).toBeGreaterThan(1);
  await sleep(50);
  const [text, { totals, models }] = [await gateway.metricsText(), await state()];
  expect(totals.requests).toBe(CALLERS * CALLS_EACH);
  expect(new Set(statuses.keys())).toEqual(new Set([200, 404, 503]));
  expect(totals.errors).toBe(statuses.get(404)! + statuses.get(503)!);
  for (const [name, metric] of COUNTERS) expect(totals[name]).toBe(sumOf(text, metric));
  for (const { id, state: condition, reason, ...model } of models) {
    const label = `model="${id}"`;
    for (const [name, metric] of COUNTERS)
      expect([id, model[name]]).toEqual([id, sumOf(text, metric, label)]);
    expect(model.servers).toBe(sumOf(text, 'instances', label));
    if (id === 'org/model-13') expect([condition, reason]).toEqual(['failed', 'its file is damaged']);
  }
  await gateway.close();
});
