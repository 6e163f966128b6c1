import path from 'node:path';
import type { Logger } from '../runtime/log.js';
import { createByteBudget } from '../runtime/wire/byte-budget.js';
import { type BackendFlags, openBackend } from './backend.js';
import type { GatewayEnvironment } from './config.js';
import type { AppParts } from './http/app.js';
import { pendingRequests } from './http/proxy.js';
import { fileKeys, fixedKeys, type KeyFileOptions, type Keys, newKey } from './keys/key-store.js';
import { createLimits, type RateLimits } from './limits/limits.js';
import { redisStore } from './limits/redis.js';
import { readTiers } from './meters.js';
import type { Rate } from './options.js';
import { VERSION } from './package.js';
import { createGatewayMetrics, type GatewayMetrics } from './records/metrics.js';
import { openRecords } from './records/records.js';
import { countWaiting } from './upstream/count-waiting.js';

/** What `gateway serve` is told, beside where to listen. */
export interface ServeFlags extends BackendFlags {
  keys?: string;
  prices: string;
  rate: Rate;
  concurrent?: number;
  /** Milliseconds. */
  callTimeout: number;
  usage?: string;
  audit?: string;
}

/** The gateway, wired but not listening. */
export interface Gateway {
  app: AppParts;
  metrics: GatewayMetrics;
  /** Once no call is under way any more. */
  close(): Promise<void>;
}

/** The longest that clients wait for a cold model. */
const START_MS = 15 * 60_000;

/** Of each key. A container reports once a second at most. */
const CONTAINER_RATE = { calls: 6000, seconds: 60 };

/** The composition root: what reads files and starts models is made here and handed on. */
export async function composeGateway(
  flags: ServeFlags,
  environment: GatewayEnvironment,
  logger: Logger,
): Promise<Gateway> {
  const log = (line: string) => logger.info(line);
  const metrics = createGatewayMetrics({
    running: () => upstream.status?.() ?? [],
    waiting: () => upstream.waiting(),
    activeCalls: () => limits.activeCalls(),
    pendingBytes: () => budget.held,
    pendingRequests: pendingRequests,
  });
  const records = await openRecords(flags, { logger, metrics });
  const keys = await keysOf(flags, { log, onChange: records.keys });
  const tiers = await readTiers(flags.prices);
  const limits = await limitsOf(flags, environment.redisUrl, logger);
  // The last that can fail: it takes over the models that an earlier run has left.
  const { catalog, ...backend } = await openBackend(flags, { environment, log, onEvent: records.model });
  const upstream = countWaiting(backend.upstream);
  const budget = createByteBudget(environment.maxPendingBytes);
  const app: AppParts = {
    ...{ catalog, keys, upstream, tiers, limits, logger, startMs: START_MS, callMs: flags.callTimeout },
    onCall: records.call,
    containers: { limits: createLimits(CONTAINER_RATE), report: records.report, version: VERSION },
    body: { ...environment.body, budget },
  };
  return {
    app,
    metrics,
    async close() {
      await upstream.close();
      catalog.close();
      keys.close();
      app.limits.close();
      await records.close();
    },
  };
}

async function keysOf({ keys }: ServeFlags, options: KeyFileOptions): Promise<Keys> {
  if (keys !== undefined) return fileKeys(path.resolve(keys), options);
  const { secret, record } = newKey('this run', new Date());
  // Not through the log: it may go to a file that outlives the run.
  process.stderr.write(`no --keys: this run takes the key ${secret}\n`);
  return fixedKeys([record]);
}

async function limitsOf(
  { rate, concurrent }: ServeFlags,
  redisUrl: string | undefined,
  logger: Logger,
): Promise<RateLimits> {
  const options = { ...rate, concurrent };
  if (redisUrl === undefined) return createLimits(options);
  return createLimits(options, await redisStore(redisUrl, options, (line) => logger.warn(line)));
}
