import path from 'node:path';
import type { Fleet } from '../builder/docker/fleet.js';
import type { Dispatcher } from 'undici';
import { LABEL } from '../builder/images/labels.js';
import { createDispatcher } from '../runtime/network/dispatcher.js';
import { isPlain } from '../runtime/network/outgoing-fetch.js';
import { fixedCatalog, MIN_RAM_GB, measuredCatalog, mergedCatalog } from './catalog/entries.js';
import type { Catalog } from './catalog/entry.js';
import { fileCatalog } from './catalog/file.js';
import { imageCatalog } from './catalog/images.js';
import { kubernetesCatalog } from './catalog/kubernetes.js';
import type { GatewayEnvironment } from './config.js';
import { GatewayError } from './errors.js';
import { openKubeApi } from './kubernetes/api.js';
import { type KubeFlags, kubeSettings } from './kubernetes/settings.js';
import { UPSTREAM_POOLS } from './http/proxy.js';
import { PACKAGE } from './package.js';
import { dockerLauncher } from './upstream/docker.js';
import { kubernetesUpstream } from './upstream/kubernetes.js';
import { measuredLauncher } from './upstream/measured.js';
import { openFleet } from './upstream/open-fleet.js';
import { remoteUpstream, withRemotes } from './remote/upstream.js';
import { createPool } from './upstream/pool.js';
import { processLauncher } from './upstream/process.js';
import { staticUpstream } from './upstream/static.js';
import type { Launcher, ModelEvent, Upstream } from './upstream/upstream.js';

export const UPSTREAMS = ['docker', 'process', 'static', 'kubernetes'] as const;

export interface BackendFlags extends KubeFlags {
  /** Docker where an engine answers, else processes. */
  upstream?: (typeof UPSTREAMS)[number];
  catalog?: string;
  /** Name of this gateway; several may share an engine. */
  name: string;
  offline?: boolean;
  /** Serve only images of this namespace; all when absent. */
  namespace?: string;
  /** GB. */
  memory: number;
  /** Milliseconds. */
  idle: number;
  queue: number;
  replicas: number;
  busyAt: number;
  standby: number;
}

/** The catalogue of models and the upstream that serves them, which belong together. */
export interface Backend {
  catalog: Catalog;
  upstream: Upstream;
}

export interface BackendParts {
  environment: GatewayEnvironment;
  log: (line: string) => void;
  onEvent: (event: ModelEvent) => void;
}

/**
 * Models that others serve are asked there; all others are served as the flags say.
 * @throws GatewayError or BuilderError with a remedy
 */
export async function openBackend(flags: BackendFlags, parts: BackendParts): Promise<Backend> {
  const { catalog, upstream } = await openOwn(flags, parts);
  const { environment, log } = parts;
  const remotes = remoteUpstream({
    openDispatcher: () => createDispatcher(environment.outgoing, UPSTREAM_POOLS),
    isRemote: (modelId) => catalog.find(modelId)?.remote !== undefined,
    log,
  });
  return { catalog, upstream: withRemotes(upstream, remotes) };
}

async function openOwn(flags: BackendFlags, parts: BackendParts): Promise<Backend> {
  const file =
    flags.catalog === undefined ? undefined : await fileCatalog(path.resolve(flags.catalog), parts.log);
  const kind = flags.upstream ?? (await detectUpstream(parts.log));
  if (kind !== 'docker') refuseDockerOptions(flags, kind);
  if (kind === 'static')
    return { catalog: requireCatalog(file), upstream: staticUpstream(dispatcherFor(parts.environment)) };
  if (kind === 'kubernetes') return kubernetesBackend(flags, parts, file);
  if (kind === 'docker') return dockerBackend(flags, parts, file);
  return processBackend(flags, parts, file);
}

/** The way to servers of others: through proxies and with private authorities, where either is set. */
function dispatcherFor({ outgoing }: GatewayEnvironment): Dispatcher | undefined {
  return isPlain(outgoing) ? undefined : createDispatcher(outgoing, UPSTREAM_POOLS);
}

/** Ignoring them would let models reach hosts that the operator meant to block. */
function refuseDockerOptions({ offline, namespace }: BackendFlags, kind: string): void {
  const given = offline ? '--offline' : namespace === undefined ? undefined : '--namespace';
  if (given) throw new GatewayError(`${given} is for --upstream docker, and this is ${kind}; leave it out`);
}

async function detectUpstream(log: BackendParts['log']): Promise<'docker' | 'process'> {
  const fleet = await openFleet();
  const engine = await fleet.info().catch(() => undefined);
  log(
    engine ? `models run on Docker ${engine.version}` : 'no Docker Engine answers: models run as processes',
  );
  return engine ? 'docker' : 'process';
}

function requireCatalog(file: Catalog | undefined): Catalog {
  if (file) return file;
  throw new GatewayError('--upstream static needs a --catalog that gives addresses');
}

async function kubernetesBackend(
  flags: BackendFlags,
  { environment, log }: BackendParts,
  file: Catalog | undefined,
): Promise<Backend> {
  const settings = kubeSettings(flags, environment.kubernetes);
  const cluster = await kubernetesCatalog({ api: await openKubeApi(settings), settings, log });
  const catalog = file ? mergedCatalog(file, cluster) : cluster;
  return { catalog, upstream: kubernetesUpstream({ maxWaiting: flags.queue }) };
}

async function dockerBackend(
  flags: BackendFlags,
  parts: BackendParts,
  file: Catalog | undefined,
): Promise<Backend> {
  const { environment, log } = parts;
  const fleet = await openFleet();
  const { problem } = environment.containerTracing;
  if (problem !== undefined) log(problem);
  const images = await openImageCatalog(fleet, flags, log);
  const launcher = dockerLauncher({
    ...{ fleet, log, name: flags.name, offline: flags.offline ?? false },
    ...{ hub: environment.hub, proxies: environment.proxies, tracing: environment.containerTracing },
    ...{ body: environment.body, standby: flags.standby },
  });
  return poolBackend(file ? mergedCatalog(file, images) : images, launcher, { flags, ...parts });
}

async function openImageCatalog(
  fleet: Fleet,
  { namespace }: BackendFlags,
  log: BackendParts['log'],
): Promise<Catalog> {
  const { platform, devices } = await fleet.info();
  const listImages = () => fleet.listImages(LABEL.model);
  const images = await imageCatalog({ listImages, platform, devices, namespace, log });
  log(`${images.list().length} models have an image on the engine; "builder build" adds one`);
  return images;
}

function processBackend(
  flags: BackendFlags,
  parts: BackendParts,
  file: Catalog = demoCatalog(),
): Promise<Backend> {
  const builder = path.join(PACKAGE, 'dist/builder/main.js');
  return poolBackend(file, processLauncher({ builder, env: parts.environment.server, log: parts.log }), {
    flags,
    ...parts,
  });
}

function demoCatalog(): Catalog {
  const modelId = 'slipway/harbour-demo';
  const from = path.join(PACKAGE, 'demo/model');
  const figures = { params: null, ramRequired: MIN_RAM_GB, figures: 'assumed' } as const;
  return fixedCatalog([{ modelId, from, task: 'text-generation', addresses: [], ...figures }]);
}

/** A pool; the memory measured at a model's first start is shown in the catalogue. */
async function poolBackend(
  models: Catalog,
  launcher: Launcher,
  { flags, log, onEvent }: { flags: BackendFlags } & BackendParts,
): Promise<Backend> {
  const { memory, idle, queue, replicas, busyAt } = flags;
  const catalog = measuredCatalog(models);
  const pool = createPool({
    launcher: measuredLauncher(launcher, (modelId, gigabytes) => catalog.setMeasured(modelId, gigabytes)),
    catalog: () => catalog.list().filter(({ remote }) => !remote),
    ...{ memoryGb: memory, idleMs: idle, maxWaiting: queue, replicas, busyAt, log, onEvent },
  });
  await pool.adopt((modelId) => catalog.find(modelId));
  return { catalog, upstream: pool };
}
