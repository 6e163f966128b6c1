import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { GatewayError } from '../errors.js';
import type { TakeResult } from './bucket.js';
import type { LimitOptions } from './limits.js';
import { KEEP_CALLS, TAKE_TOKEN } from './scripts.js';
import { type LimitStore, memoryStore } from './store.js';

/** An answer that takes longer is none: a caller waits for it. */
const ANSWER_MS = 500;

/** After a failure Redis is left alone for so long. */
const PAUSE_MS = 1000;

/** A call counts as ended when its gateway has not named it for so long: that gateway is gone. */
const LEASE_MS = 30_000;

declare module 'ioredis' {
  interface RedisCommander {
    takeToken(bucket: string, calls: string, ...values: (string | number)[]): Promise<[number, number]>;
    keepCalls(calls: string, ...values: (string | number)[]): Promise<null>;
  }
}

/**
 * Counts in a Redis that several gateways share. While that is away, each gateway counts by itself, which is told once:
 * no call fails with it, and one a second waits for it, for half a second at most.
 * @param url e.g. `redis://:password@host:6379/0`; never told to anyone
 * @throws GatewayError for what is no such address
 */
export async function redisStore(
  url: string,
  options: LimitOptions,
  log: (line: string) => void,
): Promise<LimitStore> {
  const redis = await connect(url);
  const alone = memoryStore(options);
  const link = watchLink(log);
  redis.on('error', link.failed);
  const calls = sharedCalls(redis, link, options.concurrent);

  async function ask(keyId: string, callId: string): Promise<TakeResult> {
    try {
      const { calls: most, seconds, concurrent = 0 } = options;
      const rule = [most, (seconds * 1000) / most, concurrent];
      const [remaining, waitMs] = await redis.takeToken(...keysOf(keyId), ...rule, callId, LEASE_MS);
      link.succeeded();
      if (waitMs === 0) calls.begin(keyId, callId);
      return { remaining, waitMs };
    } catch (error) {
      link.failed(error as Error);
      return takeAlone(keyId, callId);
    }
  }

  function takeAlone(keyId: string, callId: string): TakeResult | Promise<TakeResult> {
    const taken = alone.take(keyId, callId);
    calls.begin(keyId, callId);
    return taken;
  }

  return {
    take: (keyId, callId) => (link.isUsable() ? ask(keyId, callId) : takeAlone(keyId, callId)),
    end: calls.end,
    close() {
      calls.close();
      redis.disconnect();
    },
  };
}

/** Waits for the first answer or failure, so that the first caller finds it there. */
async function connect(url: string): Promise<Redis> {
  if (!/^rediss?:\/\/[^/]/i.test(url) || !URL.canParse(url))
    throw new GatewayError('REDIS_URL is no address such as redis://:password@host:6379');
  const redis = new Redis(url, {
    ...{ enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 },
    ...{ commandTimeout: ANSWER_MS, connectTimeout: 2000, connectionName: 'slipway-gateway' },
    retryStrategy: (times) => Math.min(times * 100, 2000),
  });
  redis.defineCommand('takeToken', { numberOfKeys: 2, lua: TAKE_TOKEN });
  redis.defineCommand('keepCalls', { numberOfKeys: 1, lua: KEEP_CALLS });
  await Promise.race([once(redis, 'ready'), delay(2000, undefined, { ref: false })]).catch(() => undefined);
  return redis;
}

/** The braces keep both on one node of a cluster. */
function keysOf(keyId: string): [bucket: string, calls: string] {
  return [`slipway:{${keyId}}:bucket`, `slipway:{${keyId}}:calls`];
}

interface Link {
  /** False while Redis is away, but for one call now and then. */
  isUsable(): boolean;
  succeeded(): void;
  failed(error: Error): void;
}

function watchLink(log: (line: string) => void): Link {
  let away = false;
  let askAfter = 0;
  const pause = () => (askAfter = performance.now() + PAUSE_MS);
  return {
    isUsable() {
      if (!away) return true;
      if (performance.now() < askAfter) return false;
      pause();
      return true;
    },
    succeeded() {
      if (away) log('Redis is back: limits hold for all gateways together');
      away = false;
    },
    failed(error) {
      const why = (error as NodeJS.ErrnoException).code ?? error.message;
      if (!away) log(`Redis is away (${why}): until it is back, this gateway counts by itself`);
      away = true;
      pause();
    },
  };
}

/** The calls of this gateway that Redis counts as under way, for the cap over all gateways. */
function sharedCalls(redis: Redis, link: Link, concurrent: number | undefined) {
  const live = new Map<string, Set<string>>();
  const name = () => {
    if (!link.isUsable()) return;
    for (const [keyId, callIds] of live)
      redis.keepCalls(keysOf(keyId)[1], LEASE_MS, ...callIds).then(link.succeeded, link.failed);
  };
  const timer = concurrent === undefined ? undefined : setInterval(name, LEASE_MS / 3).unref();
  return {
    begin(keyId: string, callId: string): void {
      if (concurrent === undefined) return;
      live.set(keyId, (live.get(keyId) ?? new Set()).add(callId));
    },
    end(keyId: string, callId: string): void {
      const mine = live.get(keyId);
      if (!mine?.delete(callId)) return;
      if (mine.size === 0) live.delete(keyId);
      // Where it can't be told, the call is forgotten in time.
      redis.zrem(keysOf(keyId)[1], callId).catch(link.failed);
    },
    close: () => clearInterval(timer),
  };
}
