import { engineOf } from '../core/engines.js';
import { createAnalytics } from './analytics.js';
import { readServerConfig, type ServerConfig } from './config.js';
import { defaultBodyBytes, DEFAULTS } from '../core/limits.js';
import type { LoadRequest } from '../core/load-request.js';
import { readText } from '../core/read-progress.js';
import type { EngineId, ModelSpec } from '../core/spec.js';
import type { Early } from './early.js';
import { engineEnvironment } from './engine-environment.js';
import { checkedGpuSupport } from './gpu-support.js';
import { chooseDevice } from '../engines/sessions/device.js';
import { createServerApp } from '../http/app.js';
import { createByteBudget } from '../wire/byte-budget.js';
import { createServerMetrics, type Metrics } from '../http/metrics.js';
import { followStart } from '../http/follow-start.js';
import { openTracer } from '../tracing/open-tracer.js';
import type { Tracer } from '../tracing/tracer.js';
import { followConnections } from '../wire/connections.js';
import { createHttpServer } from '../wire/server.js';
import { listen } from './listen.js';
import { createLogger, type Logger } from '../log.js';
import { createResolveMedia, refuseMedia, type ResolveMedia } from '../media/resolve.js';
import { outgoingFetch } from '../network/outgoing-fetch.js';
import { type Asking, findNewerVersion, checkKeyStatus } from './notices.js';
import { openApiOf } from './openapi.js';
import { prepareWeights } from './prepare-weights.js';
import { dropPrivileges } from './privileges.js';
import { createSealedCheck } from '../sealed/check.js';
import { createService, type PreparationStatus } from './service.js';
import { stopOnSignals } from './shutdown.js';
import { parseSpec } from '../store/spec-file.js';
import { readSpecText } from '../store/spec-text.js';
import type { Modality } from '../tasks/define.js';
import { taskOf } from '../tasks/registry.js';
import { VERSION } from '../version.js';
import { forkChannel } from '../worker/channel.js';
import { ENGINE_SCRIPT as entry } from '../worker/fork-engine.js';
import { usableThreads, wholeCores } from '../worker/cpu-quota.js';
import { cacheBytesFor, memoryFor, pendingBytesFor } from '../worker/memory-limit.js';
import { probeGpuInChild } from '../worker/probe-cuda.js';
import { createScheduler } from '../worker/scheduler.js';
import type { EngineState } from '../worker/engine-state.js';
import { readsMedia } from '../tasks/reads-media.js';
import { createSupervisor } from '../worker/supervisor.js';

/** Composition root of the server inside every image: settings, spec -> engine -> application -> listen -> signals. */
export async function serve(environment: NodeJS.ProcessEnv, early?: Early): Promise<void> {
  const config = readServerConfig(environment);
  const logger = createLogger(config.LOG_FORMAT, config.LOG_LEVEL);
  tell(logger, dropPrivileges(config.RUN_AS, config.MODEL_DIR));
  const specText = early?.specText ?? readSpecText(config.MODEL_SPEC);
  const spec = parseSpec(specText);
  const { runtime, arena } = engineOf(spec.engine);
  const gpu = checkedGpuSupport(config.DEVICE, runtime);
  const task = taskOf(spec.task);
  const env = engineEnvironment(environment, arena);
  const preparation: PreparationStatus = {
    progress: undefined,
    device: { asked: config.DEVICE, used: null, reason: null },
    offline: config.HF_HUB_OFFLINE,
    sealed: config.sealed,
  };

  const open = config.INLINE
    ? (await import('../worker/inline-channel.js')).inlineChannel()
    : forkChannel({
        ...{ entry, env, first: early?.engine },
        onOutput: (line) => logger.warn({ from: 'engine' }, line),
      });
  const check = config.sealed
    ? createSealedCheck({ config, model: { spec, specText }, logger, onAltered: (e) => supervisor.refuse(e) })
    : undefined;
  preparation.weights = check?.status;
  const follow = followStart((phase, milliseconds) => metrics.started(phase, milliseconds));
  const supervisor = createSupervisor({
    open,
    onRows: (counts) => metrics.rows(counts),
    onState(state) {
      logState(logger, state);
      follow(state);
      // It never fails; problems go to onAltered.
      if (state.name === 'ready') void check?.afterLoad();
    },
  });
  const scheduler = createScheduler({
    supervisor,
    concurrency: config.CONCURRENCY ?? defaultConcurrency(spec),
    maxQueue: config.MAX_QUEUE,
    timeoutMs: config.REQUEST_TIMEOUT,
    cancelGraceMs: config.CANCEL_GRACE,
    onBegin: (waitedMs) => metrics.waited(waitedMs),
    onKill: () => logger.error('a cancelled request did not let go; the model process is started again'),
  });
  const maxBodyBytes = config.MAX_BODY_BYTES ?? defaultBodyBytes(readsMedia(task));
  const pendingBytes = config.MAX_PENDING_BYTES ?? pendingBytesFor(maxBodyBytes);
  const budget = createByteBudget(pendingBytes);
  const metrics: Metrics = createServerMetrics({
    task: spec.task,
    running: () => scheduler.running,
    queued: () => scheduler.queued,
    ready: () => supervisor.state.name === 'ready',
    placement: () => (supervisor.state.name === 'ready' ? supervisor.state.placement : undefined),
    restarts: () => supervisor.restarts,
    graphRuns: () => supervisor.graphRuns,
    pendingBytes: () => budget.held,
  });
  const service = createService({ spec, task, scheduler, supervisor, preparation, observer: metrics });
  const analytics = createAnalytics(config.ANALYTICS_URL, config.KEY, {
    fetch: outgoingFetch(config.outgoing),
  });
  const tracer = await tracerOf(config, spec, logger);
  const app = createServerApp({
    ...{ service, logger, metrics, tracer },
    resolveMedia: await resolverFor(config, task.blocks ?? task.modality),
    openapi: () => openApiOf(spec, VERSION),
    origins: config.ALLOW_ORIGINS,
    moderation: config.MODERATION_FLAGS,
    playground: config.PLAYGROUND ? new URL('playground/', import.meta.url) : undefined,
    requiredKey: config.REQUIRE_KEY ? config.KEY : undefined,
    body: {
      ...{ maxBytes: maxBodyBytes, setting: 'MAX_BODY_BYTES' },
      ...{ maxValues: config.MAX_BODY_VALUES, budget },
    },
    onRun: (event) => analytics.record({ model: spec.id, task: spec.task, ...event }),
  });

  const server = createHttpServer(app);
  const connections = followConnections(server);
  await listen(server, config);
  logger.info(`listens on port ${config.PORT}; ${spec.id} (${spec.task})`);
  stopOnSignals({
    ...{ server, connections, service, supervisor, tracer, logger },
    graceMs: config.SHUTDOWN_GRACE,
  });
  if (config.UNTIL_STDIN_ENDS) process.stdin.resume().once('end', () => process.kill(process.pid, 'SIGTERM'));
  // After listening, since opening a GPU takes seconds. If a required device is not available, the server ends.
  const { device, reason } = await chooseDevice(config.DEVICE, probeGpuInChild(entry, env, runtime), gpu);
  preparation.device = { asked: config.DEVICE, used: device, reason };
  logger.info(`computes on ${device}: ${reason}`);
  const weights = (signal: AbortSignal) => {
    const find = () => prepareWeights({ config, spec, preparation, logger, signal });
    return check ? check.beforeLoad(find, signal) : find();
  };
  supervisor.start(async (signal) => ({
    spec,
    dir: await weights(signal),
    ...loadSettings(config, spec, { device, pendingBytes }),
  }));
  announce(config, spec, logger);
}

const tell = (logger: Logger, line: string | undefined): void => void (line && logger.info(line));

/** Both run in the background. */
function announce(config: ServerConfig, spec: ModelSpec, logger: Logger): void {
  void announceUpdate(config, logger);
  void announceStanding(config, spec, logger);
}

const tracerOf = (config: ServerConfig, { id }: ModelSpec, logger: Logger): Promise<Tracer> =>
  openTracer(
    config.tracing,
    { name: `slipway/${id}`, version: VERSION },
    { fetch: outgoingFetch(config.outgoing), log: (line) => logger.warn(line) },
  );

/** How a model is opened on a device. */
function loadSettings(
  config: ServerConfig,
  { files, engine }: ModelSpec,
  { device, pendingBytes }: { device: LoadRequest['device']; pendingBytes: number },
): Omit<LoadRequest, 'spec' | 'dir'> {
  const { runtime } = engineOf(engine);
  return {
    device,
    ...parallelism(config, engine),
    llama: {
      contextLength: config.CONTEXT_LENGTH,
      cacheType: config.CACHE_TYPE,
      gpuLayers: config.GPU_LAYERS,
      tensorSplit: config.TENSOR_SPLIT,
    },
    precision: config.PRECISION,
    cacheBytes: config.CACHE_BYTES ?? cacheBytesFor(files.reduce((sum, { size }) => sum + size, 0)),
    // ONNX Runtime does not tell the memory of GPUs; llama.cpp does, and part of a model may stay in RAM.
    memory: device === 'cpu' || runtime === 'llama' ? memoryFor(pendingBytes) : undefined,
    maxPixels: config.MAX_PIXELS,
    maxSeconds: config.MAX_MEDIA_SECONDS,
  };
}

/** Many for encoders, whose rows share runs; few for generations, each of which holds a KV cache. */
function defaultConcurrency({ engine, profile }: ModelSpec): number {
  return engineOf(engine).batchesTexts && profile === 'text'
    ? DEFAULTS.encoderConcurrency
    : DEFAULTS.concurrency;
}

/** More concurrent sessions gain little, and each needs its own working memory. */
const MAX_WORKERS = 8;

function parallelism({ THREADS, WORKERS, INLINE }: ServerConfig, engine: EngineId) {
  const threads = THREADS ?? (engineOf(engine).wholeCores ? wholeCores() : usableThreads());
  const workers = WORKERS ?? Math.min(threads, MAX_WORKERS);
  return { threads, workers: INLINE ? 0 : workers, copyWeights: WORKERS !== undefined };
}

/** Tasks without media don't load the code that fetches media. */
async function resolverFor(config: ServerConfig, kind: Modality): Promise<ResolveMedia> {
  if (kind === 'text' || kind === 'messages' || kind === 'none') return refuseMedia;
  const { createFetchMedia } = await import('../media/fetch-media.js');
  const fetchMedia = createFetchMedia({
    allowPrivate: config.ALLOW_PRIVATE_URLS,
    maxBytes: config.MAX_MEDIA_BYTES,
    timeoutMs: config.MEDIA_TIMEOUT,
    outgoing: config.outgoing,
  });
  return createResolveMedia({ fetchMedia, maxBytes: config.MAX_MEDIA_BYTES, kind });
}

function logState(logger: Logger, state: EngineState): void {
  if (state.name === 'loading')
    logger.info(
      state.read ? readText(state.read) : state.phase === 'opening' ? 'opens the model' : 'tries the model',
    );
  if (state.name === 'ready') {
    if (state.placement) logger.info(state.placement.text);
    logger.info({ times_ms: state.times }, 'ready');
  }
  if (state.name === 'failed') {
    const again =
      state.retryInMs === undefined ? '' : `; tries again in ${Math.ceil(state.retryInMs / 1000)} s`;
    logger.error({ detail: state.detail }, `not loaded: ${state.reason}${again}`);
  }
}

const askingOf = ({ KEY: key, outgoing }: ServerConfig): Asking => ({ key, fetch: outgoingFetch(outgoing) });

async function announceUpdate(config: ServerConfig, logger: Logger): Promise<void> {
  const { UPDATE_URL } = config;
  const version = UPDATE_URL && (await findNewerVersion(UPDATE_URL, VERSION, askingOf(config)));
  if (version) logger.info(`version ${version} is out (this is ${VERSION})`);
}

async function announceStanding(
  config: ServerConfig,
  { id, task }: ModelSpec,
  logger: Logger,
): Promise<void> {
  const { VALIDATE_URL } = config;
  if (VALIDATE_URL === undefined) return;
  const standing = await checkKeyStatus(VALIDATE_URL, askingOf(config), {
    model: id,
    task,
    version: VERSION,
  });
  if (standing === 'accepted') logger.info('KEY is accepted where VALIDATE_URL asks');
  if (standing === 'refused')
    logger.warn('KEY is not accepted where VALIDATE_URL asks; models answer all the same');
}
