import { jest } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsoleState, KeyList } from '../../gateway/console/state.js';
import { changeKeys } from '../../gateway/keys/key-file.js';
import { newKey } from '../../gateway/keys/key-store.js';
import { askConsole, CONSOLE_KEY, signIn } from '../fakes/console.js';
import { figuresBy, figuresShown } from '../fakes/console-figures.js';
import { closeServers, JSON_TYPE, started } from '../fakes/gateway.js';
import { readMetrics } from '../fakes/prometheus.js';
import { freePort, waitFor } from '../fakes/server.js';

jest.setTimeout(60_000);

let child: ChildProcess | undefined;
afterEach(async () => {
  child?.kill();
  if (child?.exitCode === null) await once(child, 'exit');
  await closeServers();
});

const MODELS = Array.from({ length: 40 }, (_, i) => ({
  id: `org-${i % 7}/model-${i}`,
  task: (['text-classification', 'feature-extraction', 'text-generation'] as const)[i % 3]!,
}));

const [shop, trial, unused] = ['the shop', 'the trial', 'unused'].map((name) => newKey(name, new Date()));

/** A server of all models, which takes up to 8 ms; every ninth text is refused. */
const standIn = () =>
  createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const n = Number(/\d+/.exec(body)![0]);
      const [status, answer] =
        n % 9 === 0 ? [422, '{"error":"no","output":null}'] : [200, '{"error":null,"output":"done"}'];
      const tokens = { 'inference-tokens-in': String(n), 'inference-tokens-out': '3' };
      setTimeout(
        () => response.writeHead(status, { 'Content-Type': JSON_TYPE, ...tokens }).end(answer),
        n % 9,
      );
    });
  });

/** `gateway serve` over the stand-in, with a key whose own limits are low. */
async function openGateway() {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-console-'));
  const file = (name: string) => join(folder, name);
  const addresses = [await started(standIn())];
  const models = MODELS.map((model) => ({ ...model, addresses }));
  await writeFile(file('models.json'), JSON.stringify({ models }));
  await writeFile(file('console.key'), CONSOLE_KEY);
  const own = { rate: { calls: 40, seconds: 3600 } };
  await changeKeys(file('keys.json'), () => [
    shop!.record,
    { ...trial!.record, limits: own },
    unused!.record,
  ]);
  const [metrics, page] = [await freePort(), await freePort()];
  const args = [
    ...['serve', '--upstream', 'static', '--catalog', file('models.json'), '--port', '0'],
    ...['--keys', file('keys.json'), '--rate', '100000/60s', '--audit', file('audit.jsonl')],
    ...['--metrics', String(metrics), '--console', String(page), '--console-key-file', file('console.key')],
    ...['--public-url', 'https://models.example/ai'],
  ];
  child = spawn(process.execPath, ['dist/gateway/main.js', ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  const base = String((await once(child.stdout!, 'data'))[0]).trim();
  const address = `http://127.0.0.1:${page}`;
  const cookie = await signIn(address);
  return {
    ...{ base, address, cookie, file },
    ask: async <T>(path: string, method = 'GET') =>
      (await askConsole(address, path, { method }, cookie)).output as T,
    metrics: async () => readMetrics(await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()),
  };
}

/** The states of the console's stream, as they come. */
async function listen(address: string, cookie: string) {
  const states: ConsoleState[] = [];
  const leaving = new AbortController();
  const { body } = await fetch(`${address}/api/events`, { headers: { cookie }, signal: leaving.signal });
  let text = '';
  const read = async () => {
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      const events = (text + chunk).split('\n\n');
      text = events.pop()!;
      for (const event of events) states.push(JSON.parse(event.replace(/^data: /, '')) as ConsoleState);
    }
  };
  const ended = read().catch(() => undefined);
  return { states, leave: () => (leaving.abort(), ended) };
}

/** Calls of several callers at the same time: some keys are wrong, some are over their limit, some models are not there. */
async function runLoad(base: string, calls: number): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  let sent = 0;
  const caller = async () => {
    for (let n = sent++; n < calls; n = sent++) {
      const key = n % 97 === 0 ? 'slw_wrong' : n % 11 === 0 ? trial!.secret : shop!.secret;
      const id = n % 89 === 0 ? 'org/none' : MODELS[(n * 13) % 40]!.id;
      const { status } = await fetch(`${base}/${id}`, {
        ...{ method: 'POST', body: JSON.stringify({ text: `text ${n}` }) },
        headers: { authorization: key, 'content-type': 'application/json' },
      }).then(async (response) => (await response.text(), response));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 16 }, caller));
  return statuses;
}

test('40 models under load: states keep coming, and at rest each figure is that of /metrics', async () => {
  const { base, address, cookie, ask, metrics } = await openGateway();
  const { states, leave } = await listen(address, cookie);
  const load = runLoad(base, 3000);
  await waitFor(() => states.length >= 3);
  const statuses = await load;
  expect([...statuses.keys()].sort((a, b) => a - b)).toEqual([200, 401, 404, 422, 429]);
  const requests = states.map(({ totals }) => totals.requests);
  expect(requests).toEqual(requests.toSorted((a, b) => a - b));
  for (const { totals, models } of states) {
    const ofModels = models.reduce((sum, model) => sum + model.requests, 0);
    expect(ofModels).toBeLessThanOrEqual(totals.requests);
  }
  await waitFor(async () => (await ask<ConsoleState>('/api/state')).totals.requests === 3000);

  const page = await metrics();
  const [state, keys] = [await ask<ConsoleState>('/api/state'), await ask<KeyList>('/api/keys')];
  expect(figuresShown(state, keys)).toEqual(figuresBy(page, state, keys));
  expect(state.playground).toMatchObject({ url: 'https://models.example/ai', path: '/models/v2' });
  expect(state.models).toHaveLength(40);
  expect(state.models.every(({ state: shown, requests }) => shown === 'elsewhere' && requests > 0)).toBe(
    true,
  );
  expect(keys.keys[0]!.tokensIn).toBeGreaterThan(1e6);
  const failed = [...statuses].reduce((sum, [status, calls]) => sum + (status >= 400 ? calls : 0), 0);
  expect(state.totals.errors).toBe(failed - statuses.get(422)!);
  expect(keys.keys.map(({ name, limits }) => [name, limits.calls])).toEqual([
    ...[['the shop', 100_000] as const, ['the trial', 40] as const, ['unused', 100_000] as const],
  ]);

  const before = states.length;
  await waitFor(() => states.length > before + 1);
  const { at: _at, history: _history, memory, ...told } = states.at(-1)!;
  expect(told).toEqual({ ...state, at: undefined, history: undefined, memory: undefined });
  expect(memory.models).toBe(state.memory.models);
  await leave();
});

test('what operators do is in the audit log, and the file of keys outlives the gateway', async () => {
  const { address, cookie, file } = await openGateway();
  const set = { method: 'PUT', body: { concurrent: 3 } };
  const { status } = await askConsole(address, `/api/keys/${unused!.record.id}/limits`, set, cookie);
  expect(status).toBe(200);
  await sleep(50);
  child!.kill();
  await once(child!, 'exit');
  const lines = (await readFile(file('audit.jsonl'), 'utf8')).trim().split('\n');
  const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(events.map(({ event }) => event)).toEqual([
    ...['gateway-started', 'console-sign-in', 'key-limits-set', 'console-key-limits', 'gateway-stopped'],
  ]);
  const session = events[1]!['session'];
  expect(events[3]).toMatchObject({ session, key: unused!.record.id, concurrent: 3, outcome: 'done' });
  expect(lines.join()).not.toContain(cookie.split('=')[1]);
  expect(await readFile(file('keys.json'), 'utf8')).toContain('"concurrent": 3');
});
