import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { GatewayError } from '../errors.js';
import type { LimitOptions, TakeResult } from './bucket.js';
import { KEEP_CALLS, TAKE_TOKEN } from './scripts.js';
import { bucketName, type LimitStore, memoryStore } from './store.js';

/** Timeout of a command. A caller waits for it. */
const COMMAND_TIMEOUT_MS = 500;

/** Pause after a failure before Redis is asked again. */
const PAUSE_MS = 1000;

/** A call counts as ended when its gateway has not renewed it for this long. */
const LEASE_MS = 30_000;

declare module 'ioredis' {
  interface RedisCommander {
    takeToken(bucket: string, calls: string, ...values: (string | number)[]): Promise<[number, number]>;
    keepCalls(calls: string, ...values: (string | number)[]): Promise<null>;
  }
}

/**
 * Counts in a Redis that several gateways share. While Redis is not reachable, each gateway counts alone, and `log` is
 * called once: no call fails, and at most one call per second waits for Redis, for half a second.
 * @param url e.g. `redis://:password@host:6379/0`; a secret, never logged
 * @throws GatewayError for an invalid address
 */
export async function redisStore(url: string, log: (line: string) => void): Promise<LimitStore> {
  const redis = await connect(url);
  const local = memoryStore();
  const link = watchLink(log);
  redis.on('error', link.failed);
  const calls = trackCalls(redis, link);

  async function takeShared(keyId: string, callId: string, rule: LimitOptions): Promise<TakeResult> {
    try {
      const { calls: capacity, seconds, concurrent = 0 } = rule;
      const numbers = [capacity, (seconds * 1000) / capacity, concurrent];
      const [remaining, waitMs] = await redis.takeToken(
        ...([bucketOf(keyId, rule), callsOf(keyId)] as const),
        ...numbers,
        ...[callId, LEASE_MS],
      );
      link.succeeded();
      if (waitMs === 0) calls.begin(keyId, callId, rule);
      return { remaining, waitMs };
    } catch (error) {
      link.failed(error as Error);
      return takeLocal(keyId, callId, rule);
    }
  }

  function takeLocal(keyId: string, callId: string, rule: LimitOptions): TakeResult | Promise<TakeResult> {
    const taken = local.take(keyId, callId, rule);
    calls.begin(keyId, callId, rule);
    return taken;
  }

  return {
    take: (keyId, callId, rule) => (link.isUsable() ? takeShared : takeLocal)(keyId, callId, rule),
    end: calls.end,
    close() {
      calls.close();
      redis.disconnect();
    },
  };
}

/** Waits for the first connection or failure, so that Redis is ready for the first call. */
async function connect(url: string): Promise<Redis> {
  if (!/^rediss?:\/\/[^/]/i.test(url) || !URL.canParse(url))
    throw new GatewayError('REDIS_URL is no address such as redis://:password@host:6379');
  const redis = new Redis(url, {
    ...{ enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 },
    ...{ commandTimeout: COMMAND_TIMEOUT_MS, connectTimeout: 2000, connectionName: 'slipway-gateway' },
    retryStrategy: (times) => Math.min(times * 100, 2000),
  });
  redis.defineCommand('takeToken', { numberOfKeys: 2, lua: TAKE_TOKEN });
  redis.defineCommand('keepCalls', { numberOfKeys: 1, lua: KEEP_CALLS });
  await Promise.race([once(redis, 'ready'), delay(2000, undefined, { ref: false })]).catch(() => undefined);
  return redis;
}

/** The braces keep both keys on one node of a Redis cluster. */
const bucketOf = (keyId: string, rule: LimitOptions) => `slipway:{${keyId}}:bucket:${bucketName(rule)}`;

const callsOf = (keyId: string) => `slipway:{${keyId}}:calls`;

interface Link {
  /** False while Redis is not reachable, except for one call per `PAUSE_MS`. */
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

/** Renews this gateway's running calls in Redis, for the limit on concurrent calls across gateways. */
function trackCalls(redis: Redis, link: Link) {
  const live = new Map<string, Set<string>>();
  const renew = () => {
    if (!link.isUsable()) return;
    for (const [keyId, callIds] of live)
      redis.keepCalls(callsOf(keyId), LEASE_MS, ...callIds).then(link.succeeded, link.failed);
  };
  const timer = setInterval(renew, LEASE_MS / 3).unref();
  return {
    begin(keyId: string, callId: string, { concurrent }: LimitOptions): void {
      if (concurrent === undefined) return;
      live.set(keyId, (live.get(keyId) ?? new Set()).add(callId));
    },
    end(keyId: string, callId: string): void {
      const callIds = live.get(keyId);
      if (!callIds?.delete(callId)) return;
      if (callIds.size === 0) live.delete(keyId);
      // If Redis can't be reached, the entry expires.
      redis.zrem(callsOf(keyId), callId).catch(link.failed);
    },
    close: () => clearInterval(timer),
  };
}
