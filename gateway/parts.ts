import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Logger } from '../runtime/log.js';
import { outgoingFetch } from '../runtime/network/outgoing-fetch.js';
import { openTracer } from '../runtime/tracing/open-tracer.js';
import { createByteBudget } from '../runtime/wire/byte-budget.js';
import { type BackendFlags, openBackend } from './backend.js';
import type { GatewayEnvironment } from './config.js';
import type { ConsoleParts } from './console/app.js';
import { isLoopback } from './console/guard.js';
import { createIncidents } from './console/incidents.js';
import { type AppParts, BASE } from './http/app.js';
import { pendingRequests } from './http/proxy.js';
import { fileKeys, fixedKeys, type KeyFileOptions, type Keys, newKey } from './keys/key-store.js';
import { createLimits, type RateLimits } from './limits/limits.js';
import { redisStore } from './limits/redis.js';
import { readTiers } from './meters.js';
import type { Rate } from './options.js';
import { PACKAGE, VERSION } from './package.js';
import { createGatewayMetrics, type GatewayMetrics } from './records/metrics.js';
import { openRecords } from './records/records.js';
import { countWaiting } from './upstream/count-waiting.js';
import type { ModelEvent } from './upstream/upstream.js';

/** Flags of `gateway serve`, except for the addresses to listen on. */
export interface ServeFlags extends BackendFlags {
  keys?: string;
  prices: string;
  rate: Rate;
  concurrent?: number;
  /** Milliseconds. */
  callTimeout: number;
  usage?: string;
  audit?: string;
  allowOrigins?: readonly string[];
  playground: boolean;
  publicUrl?: string;
}

/** The gateway, composed but not listening. */
export interface Gateway {
  app: AppParts;
  metrics: GatewayMetrics;
  /**
   * What the console is made of.
   * @param host that it listens on
   * @param callPort where models are called
   */
  console(key: string, host: string, callPort: number): ConsoleParts;
  /** To be called when no call is running any more. */
  close(): Promise<void>;
}

/** Longest time that a caller waits for a model to start. */
const START_MS = 15 * 60_000;

/** Rate limit of each key for container requests. A container reports at most once a second. */
const CONTAINER_RATE = { calls: 6000, seconds: 60 };

/** The page is bundled with the server of images. */
const pageFiles = (): URL => pathToFileURL(path.join(PACKAGE, 'dist/image/playground/'));

const consoleFiles = (): URL => pathToFileURL(path.join(PACKAGE, 'dist/gateway/console/page/'));

/** The composition root: everything that reads files or starts models is created here and passed on. */
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
    pendingRequests,
  });
  const tracer = await openTracer(
    environment.tracing,
    { name: 'slipway-gateway', version: VERSION },
    { fetch: outgoingFetch(environment.outgoing), log: (line) => logger.warn(line) },
  );
  const records = await openRecords(flags, { logger, metrics });
  const keys = await openKeys(flags, { log, onChange: records.keys });
  const tiers = await readTiers(flags.prices);
  const limits = await openLimits(flags, environment.redisUrl, logger);
  const incidents = createIncidents();
  const onEvent = (event: ModelEvent) => {
    records.model(event);
    incidents.model(event);
  };
  // The last step that can fail, because it takes over the servers of an earlier run.
  const { catalog, ...backend } = await openBackend(flags, { environment, log, onEvent });
  const upstream = countWaiting(backend.upstream);
  const budget = createByteBudget(environment.maxPendingBytes);
  const app: AppParts = {
    ...{ catalog, keys, upstream, tiers, limits, logger, startMs: START_MS, callMs: flags.callTimeout },
    tracer,
    onCall(call) {
      records.call(call);
      incidents.call(call);
    },
    origins: flags.allowOrigins,
    playground: flags.playground ? pageFiles() : undefined,
    containers: { limits: createLimits(CONTAINER_RATE), report: records.report, version: VERSION },
    body: { ...environment.body, budget },
  };
  return {
    app,
    metrics,
    console: (key, host, callPort) => ({
      ...{ key, isLocal: isLoopback(host), folder: consoleFiles(), logger },
      audit: records.console,
      ...{ catalog, upstream, keys, metrics, incidents, startMs: START_MS },
      limits: { ...flags.rate, concurrent: flags.concurrent ?? null },
      playground: flags.playground ? { url: flags.publicUrl ?? null, port: callPort, path: BASE } : null,
    }),
    async close() {
      await upstream.close();
      catalog.close();
      keys.close();
      app.limits.close();
      await records.close();
      await tracer.close();
    },
  };
}

async function openKeys({ keys }: ServeFlags, options: KeyFileOptions): Promise<Keys> {
  if (keys !== undefined) return fileKeys(path.resolve(keys), options);
  const { secret, record } = newKey('this run', new Date());
  // Not logged: the log may go to a file that outlives this run.
  process.stderr.write(`no --keys: this run takes the key ${secret}\n`);
  return fixedKeys([record]);
}

async function openLimits(
  { rate, concurrent }: ServeFlags,
  redisUrl: string | undefined,
  logger: Logger,
): Promise<RateLimits> {
  const options = { ...rate, concurrent };
  if (redisUrl === undefined) return createLimits(options);
  return createLimits(options, await redisStore(redisUrl, (line) => logger.warn(line)));
}
