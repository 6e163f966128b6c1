import type { RequestListener } from 'node:http';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { type AppDependencies, createServerApp } from '../../runtime/http/app.js';
import { type ByteBudget, createByteBudget } from '../../runtime/wire/byte-budget.js';
import { createServerMetrics } from '../../runtime/http/metrics.js';
import type { ModelService } from '../../runtime/http/service.js';
import { createLogger, type Logger } from '../../runtime/log.js';
import type { FetchMedia } from '../../runtime/media/fetch-media.js';
import { createResolveMedia } from '../../runtime/media/resolve.js';
import { openApiOf } from '../../runtime/boot/openapi.js';
import { taskOf } from '../../runtime/tasks/registry.js';

export interface FakeAppOptions {
  task: TaskId;
  run?: ModelService['run'];
  status?: ModelService['status'];
  requiredKey?: string;
  playground?: URL;
  origins?: readonly string[];
  maxBodyBytes?: number;
  maxPendingBytes?: number;
  maxMediaBytes?: number;
  budget?: ByteBudget;
  /** Stands for the network; without it there is none. */
  fetchMedia?: FetchMedia;
  moderation?: AppDependencies['moderation'];
  onRun?: AppDependencies['onRun'];
  openapi?: AppDependencies['openapi'];
  logger?: Logger;
  tracer?: AppDependencies['tracer'];
}

/** Metrics of a server that does nothing. */
export const idleMetrics = () =>
  createServerMetrics({
    task: 'chat',
    running: () => 0,
    queued: () => 0,
    ready: () => true,
    placement: () => undefined,
    restarts: () => 0,
    graphRuns: () => 0,
    pendingBytes: () => 0,
  });

/** The real application around a model that a test makes up. */
export function fakeApp(options: FakeAppOptions): RequestListener {
  const task = taskOf(options.task);
  const spec = {
    ...{
      specVersion: 1 as const,
      id: 'test/model',
      revision: 'main',
      commit: '0'.repeat(40),
      task: options.task,
    },
    ...{
      engine: 'transformers' as const,
      profile: 'text' as const,
      dtype: 'fp32' as const,
      graphs: {},
      files: [],
    },
  };
  const service: ModelService = {
    ...{ spec, task },
    run: options.run ?? (async () => null),
    status: options.status ?? (() => ({ state: 'ready', details: {} })),
  };
  return createServerApp({
    service,
    resolveMedia: createResolveMedia({
      fetchMedia: options.fetchMedia ?? noNetwork,
      maxBytes: options.maxMediaBytes ?? 2 ** 20,
      kind: task.blocks ?? task.modality,
    }),
    metrics: idleMetrics(),
    logger: options.logger ?? createLogger('json', 'silent'),
    openapi: options.openapi ?? (() => openApiOf(spec, 'test')),
    requiredKey: options.requiredKey,
    ...(options.playground ? { playground: options.playground } : {}),
    moderation: options.moderation,
    ...(options.origins ? { origins: options.origins } : {}),
    ...(options.tracer ? { tracer: options.tracer } : {}),
    body: {
      maxBytes: options.maxBodyBytes ?? 2 ** 20,
      setting: 'MAX_BODY_BYTES',
      budget: options.budget ?? createByteBudget(options.maxPendingBytes ?? 2 ** 30),
    },
    ...(options.onRun ? { onRun: options.onRun } : {}),
  });
}

const noNetwork: FetchMedia = async () => {
  throw new Error('no network in this test');
};
