import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ModelSpec } from '../runtime/core/spec.js';
import type { Progress } from '../runtime/store/download.js';
import { folderSource } from '../runtime/store/folder.js';
import { hubSource } from '../runtime/store/hub.js';
import type { ModelSource } from '../runtime/store/source.js';
import { ensureWeights, findWeights, type Weights } from '../runtime/store/weights.js';
import type { CommandDeps } from './deps.js';
import { contextFolder, ensureModelImage, writeContext } from './images/model-image.js';
import {
  type BuildPlan,
  type ModelContext,
  planModelImage,
  renderModelContext,
} from './images/model-plan.js';
import { ensureRuntimeImage, planRuntimeImage, type RuntimeImage } from './images/runtime-image.js';
import { weightEntries } from './images/weights.js';
import type { ImageFlags, SourceFlags } from './options.js';
import { type ModelPlan, planModel } from './plan/index.js';
import { megabytes, type Report } from './report.js';

/** All that is decided before anything is written or fetched. */
export interface Prepared extends PlannedImages {
  model: ModelPlan;
}

export interface PlannedImages {
  plan: BuildPlan;
  runtime: RuntimeImage;
  context: ModelContext;
  /** Where the build folder goes. */
  folder: string;
}

export interface PrepareOptions {
  id: string;
  flags: SourceFlags & ImageFlags;
  report: Report;
}

/**
 * Asks the source about the model and decides everything.
 * @throws StoreError, RunError or BuilderError with the reason when the model can't be had or served
 */
export async function prepare({ id, flags, report }: PrepareOptions, deps: CommandDeps): Promise<Prepared> {
  const model = await decideModel({ id, flags, report }, deps);
  return { model, ...(await planImages(model.spec, flags, deps)) };
}

/** Decides runtime image and model image of a spec. */
export async function planImages(
  spec: ModelSpec,
  flags: SourceFlags & ImageFlags,
  deps: CommandDeps,
): Promise<PlannedImages> {
  const { packageRoot, version } = deps;
  const options = { ...flags, version, baked: flags.bake ?? false };
  const runtime = await planRuntimeImage(
    { packageRoot, cache: cacheOf(flags, deps) },
    { ...options, profile: spec.profile },
  );
  const plan = planModelImage(spec, runtime.name, options);
  const template = await readFile(path.join(packageRoot, 'templates/model.Dockerfile.eta'), 'utf8');
  return {
    plan,
    runtime,
    context: renderModelContext(plan, template),
    folder: contextFolder(flags.out, plan),
  };
}

export interface DecideOptions {
  id: string;
  flags: SourceFlags;
  report: Report;
}

/** Reads the repository's listing and small files and chooses task, engine, weight format and files. */
export async function decideModel(
  { id, flags, report }: DecideOptions,
  deps: CommandDeps,
): Promise<ModelPlan> {
  const { source, name } = sourceOf(flags, deps);
  const { revision, task, dtype } = flags;
  return report.step(`Read ${id} from ${name}`, () => planModel({ id, revision, task, dtype, source }));
}

export function sourceOf(
  { from, hub }: SourceFlags,
  { config }: CommandDeps,
): { source: ModelSource; name: string } {
  if (from !== undefined) return { source: folderSource(from), name: from };
  const endpoint = hub ?? config.endpoint;
  return { source: hubSource({ endpoint, token: config.token() }), name: endpoint };
}

export function cacheOf(flags: SourceFlags, { config }: CommandDeps): string {
  return flags.cache ?? config.cache;
}

export interface FetchOptions extends DecideOptions {
  model: Pick<ModelPlan, 'spec'>;
  /** Folders in which the files may lie beside the cache. */
  places?: readonly string[];
  /** Folder under which the files go to `<org>/<name>/<commit>`, in place of the cache. */
  to?: string | undefined;
  /** Reads every file once more, whatever is known of it. */
  rehash?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** What is fetched, for people. */
  what?: string;
}

/** Folder with the verified files of a model; downloads what the cache lacks. */
export async function fetchWeights(options: FetchOptions, deps: CommandDeps): Promise<string> {
  return (await haveWeights(options, deps)).dir;
}

/** As fetchWeights; with `to`, what the cache holds is copied rather than downloaded. */
export async function haveWeights(options: FetchOptions, deps: CommandDeps): Promise<Weights> {
  const { flags, report, model, places = [], to, rehash, signal, what = 'files of the model' } = options;
  const cache = path.join(cacheOf(flags, deps), 'models');
  const { spec } = model;
  const common = { spec, rehash, signal, log: report.note };
  // A local folder is used where it is; only what the hub gives is kept in the cache.
  const roots = [...(flags.from === undefined ? [] : [flags.from]), ...places, cache];
  const here = to === undefined ? undefined : await findWeights({ ...common, roots, downloadRoot: cache });
  const weights = await report.step(`Have ${spec.files.length} ${what}`, (say) =>
    ensureWeights({
      ...common,
      roots: to === undefined ? roots : [to],
      downloadRoot: to ?? cache,
      source: () => (here === undefined ? sourceOf(flags, deps).source : folderSource(here)),
      elsewhere: `give another folder with ${to === undefined ? '--cache' : '--to'}`,
      onProgress: (progress) => say(progressText(progress)),
    }),
  );
  const fromHub = here === undefined && flags.from === undefined;
  return { ...weights, receivedBytes: fromHub ? weights.receivedBytes : 0 };
}

function progressText({ file, fileBytes, doneBytes, totalBytes }: Progress): string {
  return `${megabytes(doneBytes)} of ${megabytes(totalBytes)} (${file}: ${megabytes(fileBytes)})`;
}

/** What a build gave, as `--json` prints it. */
export interface BuildResult {
  image: string;
  references: string[];
  id: string;
  /** False when an image of the same inputs was there. */
  built: boolean;
  runtime: string;
  runtimeBuilt: boolean;
  folder: string;
  bytes: number;
}

/** Weights where they are baked, runtime image where it lacks, build folder, model image. */
export async function buildImage(
  prepared: Prepared,
  options: PrepareOptions,
  deps: CommandDeps,
): Promise<BuildResult> {
  const { model, plan, runtime, context, folder } = prepared;
  const { flags, report } = options;
  const { docker } = deps;
  await docker.info();
  const dir = plan.baked ? await fetchWeights({ ...options, model }, deps) : undefined;
  const runtimeBuild = await report.step(`Runtime image ${runtime.name}`, (onLine) =>
    ensureRuntimeImage(runtime, { docker, onLine, buildArgs: cudaArguments(flags) }),
  );
  await writeContext(folder, context);
  const weights = dir === undefined ? [] : weightEntries(plan.spec, dir);
  const image = plan.image.references[0]!;
  const made = await report.step(`Model image ${image}`, (onLine) =>
    ensureModelImage({ plan, context, weights }, { docker, onLine }),
  );
  return {
    image,
    references: plan.image.references,
    id: made.id,
    built: made.built,
    runtime: runtime.name,
    runtimeBuilt: runtimeBuild.built,
    folder,
    bytes: made.size,
  };
}

export function cudaArguments({
  device,
  cudaProviderSha256,
}: ImageFlags): Record<string, string> | undefined {
  return device === 'cuda' ? { ORT_CUDA_SHA256: cudaProviderSha256 ?? '' } : undefined;
}
