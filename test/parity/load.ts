import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import request from 'supertest';
import { chooseEngine } from '../../builder/plan/choose-engine.js';
import { planModel } from '../../builder/plan/index.js';
import type { MemoryLimits } from '../../runtime/core/load-request.js';
import type { ModelSpec } from '../../runtime/core/spec.js';
import { type AppDependencies, createServerApp } from '../../runtime/http/app.js';
import { createByteBudget } from '../../runtime/wire/byte-budget.js';
import { createLogger } from '../../runtime/log.js';
import { createFetchMedia } from '../../runtime/media/fetch-media.js';
import { DIRECT } from '../../runtime/network/outgoing-settings.js';
import { createResolveMedia } from '../../runtime/media/resolve.js';
import { openApiOf } from '../../runtime/boot/openapi.js';
import { createService } from '../../runtime/boot/service.js';
import { folderSource } from '../../runtime/store/folder.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { inlineChannel } from '../../runtime/worker/inline-channel.js';
import { createScheduler } from '../../runtime/worker/scheduler.js';
import { createSupervisor } from '../../runtime/worker/supervisor.js';
import { idleMetrics } from '../fakes/app.js';

export interface Answer {
  status: number;
  body: { error: string | null; output: unknown };
}

export interface ServedModel {
  app: ReturnType<typeof createServerApp>;
  run(body: object): Promise<Answer>;
  stop(): void;
}

/**
 * The whole server around one model folder, engine and all, in this process.
 * @param memory of the container that it would run in
 * @param more of the application
 */
export async function serveInline(
  spec: ModelSpec,
  dir: string,
  memory?: MemoryLimits,
  more: Partial<AppDependencies> = {},
): Promise<ServedModel> {
  const task = taskOf(spec.task);
  const supervisor = createSupervisor({ open: inlineChannel(), onState: () => {} });
  const scheduler = createScheduler({
    ...{ supervisor, concurrency: 16, maxQueue: 256, timeoutMs: 60_000, cancelGraceMs: 1000 },
    onKill: () => {},
  });
  const preparation = {
    progress: undefined,
    device: { asked: 'cpu', used: 'cpu', reason: 'test' },
    offline: true,
    sealed: false,
  };
  const service = createService({ spec, task, scheduler, supervisor, preparation });
  const fetchMedia = createFetchMedia({
    allowPrivate: [],
    maxBytes: 2 ** 25,
    timeoutMs: 5000,
    outgoing: DIRECT,
  });
  const app = createServerApp({
    service,
    resolveMedia: createResolveMedia({ fetchMedia, maxBytes: 2 ** 25, kind: task.blocks ?? task.modality }),
    metrics: idleMetrics(),
    logger: createLogger('json', 'silent'),
    openapi: () => openApiOf(spec, 'test'),
    requiredKey: undefined,
    body: { maxBytes: 2 ** 26, maxValues: 2 ** 20, budget: createByteBudget(2 ** 30) },
    ...more,
  });
  supervisor.start(async () => ({
    spec,
    dir,
    device: 'cpu',
    threads: 1,
    workers: 0,
    copyWeights: false,
    cacheBytes: 2 ** 28,
    maxPixels: 50_000_000,
    maxSeconds: 1800,
    memory,
  }));
  await supervisor.ready(AbortSignal.timeout(60_000));
  return {
    app,
    async run(body) {
      const response = await request(app).post('/run').send(body);
      return { status: response.status, body: response.body as Answer['body'] };
    },
    stop: () => supervisor.stop(),
  };
}

/** What an image of a fixture holds: the files that the plan chooses, alone in a folder, and the spec that goes with them. */
export async function plannedModel(
  task: ModelSpec['task'],
  id: string,
  repo: string,
): Promise<{ spec: ModelSpec; dir: string }> {
  const { spec } = await planModel({ source: folderSource(repo), id, task });
  const dir = await mkdtemp(join(tmpdir(), 'planned-'));
  for (const { path } of spec.files) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await copyFile(join(repo, path), join(dir, path));
  }
  return { spec, dir };
}

/** A spec by hand, for a fixture whose files are known to be right. */
export function fixtureSpec(task: ModelSpec['task'], id: string, dir: string): ModelSpec {
  const definition = taskOf(task);
  const { engine, binding } = chooseEngine(definition, modelType(dir));
  const sets = [binding.graphs, ...(binding.otherGraphs ?? [])];
  // Pipelines have a folder for each of their networks; transformers' exporter puts its graphs beside config.json.
  const fileOf = (role: string) => {
    const own = [join(role, 'model.onnx'), join('onnx', `${role}.onnx`), 'decode.onnx', `${role}.onnx`];
    return own.find((file) => existsSync(join(dir, file))) ?? join('onnx', `${role}.onnx`);
  };
  const roles = sets.find((set) => set.every((role) => existsSync(join(dir, fileOf(role)))))!;
  return {
    specVersion: 1,
    id,
    revision: 'main',
    commit: '0'.repeat(40),
    task,
    engine,
    profile: definition.profile,
    dtype: 'fp32',
    graphs: Object.fromEntries(roles.map((role) => [role, fileOf(role)])),
    files: [],
  };
}

function modelType(dir: string): string | undefined {
  if (!existsSync(join(dir, 'config.json'))) return undefined;
  const config = JSON.parse(readFileSync(join(dir, 'config.json'), 'utf8')) as { model_type?: string };
  return config.model_type;
}
