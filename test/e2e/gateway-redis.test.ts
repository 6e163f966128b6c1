import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LimitOptions } from '../../gateway/limits/bucket.js';
import { createLimits, type RateLimits } from '../../gateway/limits/limits.js';
import type { OwnLimits } from '../../gateway/limits/own-limits.js';
import { redisStore } from '../../gateway/limits/redis.js';
import { closeServers, gateway, JSON_TYPE, record, secret } from '../fakes/gateway.js';
import { freePort, ROOT, waitFor } from '../fakes/server.js';

const found = spawnSync('bash', ['scripts/redis-server.sh'], { cwd: ROOT, encoding: 'utf8' });
if (found.status === 1) throw new Error(found.stderr);
const redisTest = found.status === 0 ? test : test.skip;
const why = found.status === 0 ? '' : ` (${found.stderr.trim()})`;

const PASSWORD = 'not-to-be-told';
const dir = mkdtempSync(join(tmpdir(), 'slipway-redis-'));
let port: number;
let redis: ChildProcess | undefined;
const opened: RateLimits[] = [];

async function startRedis(): Promise<void> {
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--requirepass',
    PASSWORD,
    '--dir',
    dir,
  ];
  redis = spawn(found.stdout.trim(), args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  redis.stdout!.on('data', (text: Buffer) => (said += text.toString()));
  await waitFor(() => said.includes('Ready to accept connections'));
}

async function killRedis(): Promise<void> {
  redis!.kill('SIGKILL');
  await once(redis!, 'exit');
}

beforeEach(async () => {
  port = await freePort();
  if (found.status === 0) await startRedis();
});
afterEach(async () => {
  await closeServers();
  for (const limits of opened.splice(0)) limits.close();
  if (redis?.exitCode === null && redis.signalCode === null) await killRedis();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const lines: string[] = [];
beforeEach(() => void lines.splice(0));

/** A gateway that counts in the one Redis. */
async function withRedis(options: LimitOptions, container?: RequestListener) {
  const url = `redis://:${PASSWORD}@127.0.0.1:${port}`;
  const limits = createLimits(options, await redisStore(url, (line) => lines.push(line)));
  opened.push(limits);
  return gateway({ parts: { limits }, ...(container ? { container } : {}) });
}

const ask = (base: string) =>
  fetch(`${base}/list/tasks`, { headers: { authorization: secret } }).then(({ status }) => status);

redisTest(`a key’s limit holds over two gateways together${why}`, async () => {
  const rule = { calls: 100, seconds: 20 };
  const bases = [await withRedis(rule), await withRedis(rule)];
  const started = performance.now();
  const statuses: number[] = [];
  for (let i = 0; i < 20; i++)
    statuses.push(...(await Promise.all(Array.from({ length: 20 }, (_, n) => ask(bases[n % 2]!)))));
  const passed = statuses.filter((status) => status === 200).length;
  // What was in the bucket, and what has come since.
  const allowed = 100 + ((performance.now() - started) / 1000) * 5;
  expect(passed).toBeGreaterThanOrEqual(100);
  expect(passed).toBeLessThanOrEqual(allowed * 1.05);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(lines).toEqual([]);
});

redisTest(`a key’s cap of calls at the same time holds over both${why}`, async () => {
  const answers: (() => void)[] = [];
  const container: RequestListener = (request, response) => {
    request.resume();
    answers.push(() => response.setHeader('Content-Type', JSON_TYPE).end('{"error":null,"output":"x"}'));
  };
  const rule = { calls: 1000, seconds: 1, concurrent: 3 };
  const bases = [await withRedis(rule, container), await withRedis(rule, container)];
  const call = (base: string) =>
    fetch(`${base}/org/name`, {
      method: 'POST',
      headers: { authorization: secret, 'content-type': 'application/json' },
      body: '{"text":"x"}',
    }).then(({ status }) => status);
  const held = [0, 1, 0].map((n) => call(bases[n]!));
  await waitFor(() => answers.length === 3);
  expect(await Promise.all(bases.map(call))).toEqual([429, 429]);
  for (const answer of answers) answer();
  expect(await Promise.all(held)).toEqual([200, 200, 200]);
  await waitFor(async () => (await ask(bases[0]!)) === 200);
});

redisTest(
  `while Redis is away each gateway counts by itself; afterwards both together again${why}`,
  async () => {
    const rule = { calls: 10, seconds: 3600 };
    const bases = [await withRedis(rule), await withRedis(rule)];
    await killRedis();
    const first = await Promise.all(Array.from({ length: 30 }, () => ask(bases[0]!)));
    const second = await Promise.all(Array.from({ length: 30 }, () => ask(bases[1]!)));
    for (const statuses of [first, second])
      expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^Redis is away .*counts by itself$/);
    await startRedis();
    // This Redis knows nothing of what was before: ten calls, from either.
    await waitFor(async () => (await ask(bases[0]!)) === 200);
    await waitFor(async () => (await ask(bases[1]!)) === 200);
    const rest = await Promise.all(Array.from({ length: 30 }, (_, n) => ask(bases[n % 2]!)));
    expect(rest.filter((status) => status === 200)).toHaveLength(8);
    expect(lines.slice(2)).toEqual(Array(2).fill('Redis is back: limits hold for all gateways together'));
    expect(lines.join()).not.toContain(PASSWORD);
  },
);

redisTest(`limits of one key hold over both, and count when they are changed${why}`, async () => {
  const rule = { calls: 1000, seconds: 60 };
  const url = `redis://:${PASSWORD}@127.0.0.1:${port}`;
  const stores = [await redisStore(url, () => {}), await redisStore(url, () => {})];
  const gateways = stores.map((store) => createLimits(rule, store));
  opened.push(...gateways);
  const enter = (n: number, own?: OwnLimits) =>
    gateways[n]!.enter('a', own).then(
      ({ limit, remaining, release }) => ({ limit, remaining, release }),
      ({ code }: { code: string }) => ({ code, release: () => {} }),
    );
  const own: OwnLimits = { rate: { calls: 3, seconds: 3600 }, concurrent: 2 };
  const held = [await enter(0, own), await enter(1, own)];
  expect(held).toMatchObject([{ limit: 3, remaining: 2 }, { remaining: 1 }]);
  expect(await enter(0, own)).toMatchObject({ code: 'rate_limited' });
  const more = await enter(1, { ...own, concurrent: 3 });
  expect(more).toMatchObject({ limit: 3, remaining: 0 });
  for (const { release } of [...held, more]) release();
  expect(await enter(0, own)).toMatchObject({ code: 'rate_limited' });
  expect(await enter(1, { rate: { calls: 4, seconds: 60 } })).toMatchObject({ limit: 4, remaining: 3 });
  expect(await enter(0)).toMatchObject({ limit: 1000, remaining: 999 });
});

redisTest(`a Redis that hangs holds nobody up for long${why}`, async () => {
  const rule = { calls: 1000, seconds: 1, concurrent: 100 };
  const base = await withRedis(rule);
  expect(await ask(base)).toBe(200);
  redis!.kill('SIGSTOP');
  const statuses = await Promise.all(Array.from({ length: 20 }, () => ask(base)));
  redis!.kill('SIGCONT');
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(lines[0]).toMatch(/Redis is away/);
  await waitFor(async () => (await ask(base)) === 200 && lines.length > 1);
  expect(lines[1]).toMatch(/Redis is back/);
});

redisTest(`an address that is none is told without its password${why}`, async () => {
  await expect(redisStore(`http://:${PASSWORD}@x`, () => {})).rejects.toThrow(/^REDIS_URL is no address/);
  await redisStore(`redis://:wrong-${PASSWORD}@127.0.0.1:${port}`, (line) => lines.push(line)).then(
    async (store) => {
      expect(await store.take(record.id, 'call', { calls: 1, seconds: 1 })).toMatchObject({ waitMs: 0 });
      store.close();
    },
  );
  expect(lines.join()).toMatch(/Redis is away/);
  expect(lines.join()).not.toContain(PASSWORD);
});
