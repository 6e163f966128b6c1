import { createServer } from 'node:http';
import { countWaiting } from '../../../gateway/upstream/count-waiting.js';
import { measuredLauncher } from '../../../gateway/upstream/measured.js';
import { leastRecentlyUsed, createReplica } from '../../../gateway/upstream/replica.js';
import { staticUpstream } from '../../../gateway/upstream/static.js';
import { waitUntilSilent } from '../../../gateway/upstream/supervision.js';
import type { ServerInstance } from '../../../gateway/upstream/upstream.js';
import { closeServers, started } from '../../fakes/gateway.js';
import { entry, fakeLauncher, never, pool } from '../../fakes/launcher.js';

afterEach(closeServers);

test('of servers that may go, the one whose last use is longest ago does', () => {
  const slots = [5, 2, 9].map((used) => createReplica(entry('m/a'), used));
  expect(leastRecentlyUsed(slots)?.used).toBe(2);
});

test('static addresses are asked in turn, and none is ever started for a call', async () => {
  const upstream = staticUpstream();
  const row = { ...entry('m/a'), addresses: ['http://a', 'http://b', 'http://c'] };
  const leases = [];
  for (let i = 0; i < 4; i++) leases.push(await upstream.acquire(row, never));
  expect(leases.map(({ url }) => url)).toEqual(['http://a', 'http://b', 'http://c', 'http://a']);
  expect(leases.map(({ cold }) => cold)).toEqual([false, false, false, false]);
});

test('an address that stops or does not answer is passed over; of several the one that failed first is asked', async () => {
  const upstream = staticUpstream();
  const row = { ...entry('m/a'), addresses: ['http://a', 'http://b', 'http://c'] };
  const next = () => upstream.acquire(row, never);
  (await next()).stops!();
  expect([(await next()).url, (await next()).url, (await next()).url]).toEqual([
    'http://b',
    'http://c',
    'http://b',
  ]);
  await (
    await next()
  ).suspect!();
  expect([(await next()).url, (await next()).url]).toEqual(['http://c', 'http://c']);
  (await next()).stops!();
  expect((await next()).url).toBe('http://a');
});

test('callers count as waiting until they have a server, or none', async () => {
  let answer!: () => void;
  const held = new Promise<void>((resolve) => (answer = resolve));
  const upstream = countWaiting({
    async acquire() {
      await held;
      throw new Error('none');
    },
    close: async () => {},
  });
  const calls = [upstream.acquire(entry('m/a'), never), upstream.acquire(entry('m/b'), never)];
  expect(upstream.waiting()).toBe(2);
  answer();
  await Promise.allSettled(calls);
  expect(upstream.waiting()).toBe(0);
});

test('a caller who has left already starts nothing', async () => {
  const fake = fakeLauncher();
  const left = AbortSignal.abort(new Error('left'));
  await expect(pool(fake.launcher).acquire(entry('m/a'), left)).rejects.toThrow('left');
  expect(fake.starts).toEqual([]);
});

test('a server that has gone meanwhile is none that is silent', async () => {
  let looks = 0;
  const lives = async () => ++looks > 9;
  const server = { isAlive: lives } as ServerInstance;
  expect(await waitUntilSilent(server, { everyMs: 1, isActive: () => looks < 2 })).toBe(false);
  expect(looks).toBe(2);
});

describe('servers whose memory nobody knows', () => {
  const status = (memory: object | undefined) =>
    createServer((_request, response) =>
      response.end(JSON.stringify({ error: null, output: { state: 'ready', memory_bytes: memory } })),
    );
  const assumed = { ...entry('m/a'), figures: 'assumed' as const };
  const launcher = (url: string, stopped: string[] = []) => ({
    launch: async (): Promise<ServerInstance> => ({
      url,
      ended: new Promise(() => {}),
      isAlive: async () => true,
      stop: async () => void stopped.push(url),
    }),
  });

  test('are measured when they have loaded; others are not', async () => {
    const url = await started(status({ server: 1e9, engine: 1e9 }));
    const told: [string, number][] = [];
    const measured = measuredLauncher(launcher(url), (...figures) => told.push(figures));
    const instance = await measured.launch(assumed, never);
    expect(instance.gigabytes).toBeGreaterThan(2);
    expect(told).toEqual([['m/a', instance.gigabytes]]);
    expect((await measured.launch(entry('m/a'), never)).gigabytes).toBeUndefined();
    expect(told).toHaveLength(1);
  });

  test('are ended when they do not say', async () => {
    const url = await started(status(undefined));
    const stopped: string[] = [];
    const measured = measuredLauncher(launcher(url, stopped), () => {});
    await expect(measured.launch(assumed, never)).rejects.toThrow();
    expect(stopped).toEqual([url]);
  });
});
