import path from 'node:path';
import { DEFAULTS } from '../runtime/core/limits.js';
import type { Logger } from '../runtime/log.js';
import { createByteBudget } from '../runtime/wire/byte-budget.js';
import type { Catalog } from './catalog/entry.js';
import { fileCatalog, fixedCatalog } from './catalog/file.js';
import type { GatewayEnvironment } from './config.js';
import type { AppParts } from './http/app.js';
import { kubernetesCatalog } from './catalog/kubernetes.js';
import { mergedCatalog } from './catalog/merged.js';
import { openKubeApi } from './kubernetes/api.js';
import { type KubeFlags, kubeSettings } from './kubernetes/settings.js';
import { kubernetesUpstream } from './upstream/kubernetes.js';
import { fileKeys, fixedKeys, type KeyFileOptions, type Keys, newKey } from './keys/key-store.js';
import { createLimits, type Limits } from './limits/limits.js';
import { redisStore } from './limits/redis.js';
import { readTiers } from './meters.js';
import type { Rate } from './options.js';
import { PACKAGE, VERSION } from './package.js';
import { createMetrics, type GatewayMetrics } from './records/metrics.js';
import { openRecords } from './records/records.js';
import { countWaiting } from './upstream/counted.js';
import { createPool } from './upstream/pool.js';
import { processLauncher } from './upstream/process.js';
import { staticUpstream } from './upstream/static.js';
import type { ModelEvent, Upstream } from './upstream/upstream.js';

export const UPSTREAMS = ['process', 'static', 'kubernetes'] as const;

/** What `gateway serve` is told, beside where to listen. */
export interface ServeFlags extends KubeFlags {
  upstream: (typeof UPSTREAMS)[number];
  catalog?: string;
  keys?: string;
  prices: string;
  /** GB. */
  memory: number;
  /** Milliseconds. */
  idle: number;
  queue: number;
  rate: Rate;
  concurrent?: number;
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
  { server, redisUrl, kubernetes }: GatewayEnvironment,
  logger: Logger,
): Promise<Gateway> {
  const log = (line: string) => logger.info(line);
  const catalog = await catalogOf(flags, { log, kubernetes });
  const metrics = createMetrics({
    running: () => upstream.status?.() ?? [],
    waiting: () => upstream.waiting(),
  });
  const records = await openRecords(flags, { logger, metrics });
  const keys = await keysOf(flags, { log, onChange: records.keys });
  const upstream = countWaiting(upstreamOf(flags, { log, env: server, onEvent: records.model }));
  const app: AppParts = {
    ...{ catalog, keys, upstream, logger, startMs: START_MS },
    tiers: await readTiers(flags.prices),
    limits: await limitsOf(flags, redisUrl, logger),
    onCall: records.call,
    containers: { limits: createLimits(CONTAINER_RATE), report: records.report, version: VERSION },
    body: { maxBytes: DEFAULTS.maxBodyBytes, budget: createByteBudget(DEFAULTS.maxPendingBytes) },
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

async function catalogOf(
  flags: ServeFlags,
  { log, kubernetes }: { log: (line: string) => void; kubernetes: string | undefined },
): Promise<Catalog> {
  const file = flags.catalog === undefined ? undefined : await fileCatalog(path.resolve(flags.catalog), log);
  if (flags.upstream === 'kubernetes') {
    const settings = kubeSettings(flags, kubernetes);
    const cluster = await kubernetesCatalog({ api: await openKubeApi(settings), settings, log });
    return file ? mergedCatalog([file, cluster]) : cluster;
  }
  if (file) return file;
  const demo = {
    modelId: 'slipway/harbour-demo',
    task: 'text-generation',
    from: path.join(PACKAGE, 'demo/model'),
  } as const;
  return fixedCatalog([{ ...demo, params: null, ramRequired: 0.3, addresses: [] }]);
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
): Promise<Limits> {
  const options = { ...rate, concurrent };
  if (redisUrl === undefined) return createLimits(options);
  return createLimits(options, await redisStore(redisUrl, options, (line) => logger.warn(line)));
}

function upstreamOf(
  { upstream, memory, idle, queue }: ServeFlags,
  {
    log,
    env,
    onEvent,
  }: { log: (line: string) => void; env: NodeJS.ProcessEnv; onEvent: (event: ModelEvent) => void },
): Upstream {
  if (upstream === 'static') return staticUpstream();
  if (upstream === 'kubernetes') return kubernetesUpstream({ maxWaiting: queue });
  const launcher = processLauncher({ builder: path.join(PACKAGE, 'dist/builder/main.js'), env, log });
  return createPool({ launcher, memoryGb: memory, idleMs: idle, maxWaiting: queue, log, onEvent });
}
