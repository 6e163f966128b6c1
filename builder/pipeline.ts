import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ModelSpec } from '../runtime/core/spec.js';
import type { CommandDeps } from './deps.js';
import { fetchWeights } from './fetch-weights.js';
import {
  modelReadme,
  removeWeights,
  runtimeFolder,
  writeRuntimeFolder,
  writeWeights,
} from './images/folders.js';
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
import { type Figures, predictedFigures } from './plan/figures.js';
import type { ModelPlan } from './plan/index.js';
import type { Report } from './report.js';
import { decideModel } from './pack/decide-model.js';
import { cacheFolder } from './source.js';

/** All decisions, made before anything is written or fetched. */
export interface PreparedModel extends PlannedImages {
  model: ModelPlan;
}

export interface PlannedImages {
  plan: BuildPlan;
  runtime: RuntimeImage;
  context: ModelContext;
  /** The build folder, and the text of its README. */
  folder: string;
  readme: string;
  /** The build folder of the runtime image. */
  runtimeFolder: string;
}

export interface PrepareModelOptions {
  id: string;
  flags: SourceFlags & ImageFlags;
  report: Report;
}

/**
 * Reads the model's metadata from its source and makes all decisions.
 * @throws StoreError, RunError or BuilderError with the reason when the model can't be read or served
 */
export async function prepareModel(
  { id, flags, report }: PrepareModelOptions,
  deps: CommandDeps,
): Promise<PreparedModel> {
  const model = await decideModel({ id, flags, report }, deps);
  return { model, ...(await planImages(predictModel(model, flags), flags, deps)) };
}

/** A spec with the figures of its image. */
export interface SizedModel {
  spec: ModelSpec;
  figures: Figures | undefined;
  /** The format of its calls of tools. */
  tools?: string | undefined;
}

export function predictModel(model: ModelPlan, { device }: Pick<ImageFlags, 'device'>): SizedModel {
  return { spec: model.spec, figures: predictedFigures(model, device), tools: model.tools?.format };
}

/** Plans the runtime image and the model image of a spec. */
export async function planImages(
  { spec, figures, tools }: SizedModel,
  flags: SourceFlags & ImageFlags,
  deps: CommandDeps,
): Promise<PlannedImages> {
  const { packageRoot, version } = deps;
  const options = { ...flags, version, figures, tools, baked: flags.bake ?? false };
  const runtime = await planRuntimeImage(
    { packageRoot, cache: cacheFolder(flags, deps) },
    { ...options, profile: spec.profile },
  );
  const plan = planModelImage(spec, runtime.name, options);
  const template = await readFile(path.join(packageRoot, 'templates/model.Dockerfile.eta'), 'utf8');
  return {
    plan,
    runtime,
    context: renderModelContext(plan, template),
    folder: contextFolder(flags.out, plan),
    readme: await modelReadme(plan, { runtime, packageRoot }),
    runtimeFolder: runtimeFolder(flags.out, runtime),
  };
}

/** Result of a build, as `--json` prints it. */
export interface BuildResult {
  image: string;
  references: string[];
  id: string;
  /** False when an image of the same inputs existed. */
  built: boolean;
  runtime: string;
  runtimeBuilt: boolean;
  folder: string;
  runtimeFolder: string;
  bytes: number;
}

/** Fetches weights if they are baked, builds the runtime image if it is missing, then build folder and model image. */
export async function buildImage(
  prepared: PreparedModel,
  options: PrepareModelOptions,
  deps: CommandDeps,
): Promise<BuildResult> {
  const { model, plan, runtime, context, folder, runtimeFolder } = prepared;
  const { flags, report } = options;
  const { docker } = deps;
  await docker.info();
  const dir = plan.baked ? await fetchWeights({ ...options, model }, deps) : undefined;
  const buildArgs = { ...deps.config.proxyArguments, ...cudaArguments(flags) };
  const runtimeBuild = await report.step(`Runtime image ${runtime.name}`, (onLine) =>
    ensureRuntimeImage(runtime, { docker, onLine, buildArgs }),
  );
  await writeFolders(prepared, deps);
  const weights = dir === undefined ? [] : weightEntries(plan.spec, dir);
  const image = plan.image.references[0]!;
  const modelBuild = await report.step(`Model image ${image}`, (onLine) =>
    ensureModelImage({ plan, context, weights }, { docker, onLine }),
  );
  return {
    image,
    references: plan.image.references,
    id: modelBuild.id,
    built: modelBuild.built,
    runtime: runtime.name,
    runtimeBuilt: runtimeBuild.built,
    folder,
    runtimeFolder,
    bytes: modelBuild.size,
  };
}

/** Result of writing complete build folders, as `--json` prints it. */
export interface FoldersResult {
  image: string;
  runtime: string;
  folder: string;
  runtimeFolder: string;
}

/** Writes complete build folders of both images, for `docker build` on another machine. */
export async function writeCompleteFolders(
  prepared: PreparedModel,
  options: PrepareModelOptions,
  deps: CommandDeps,
): Promise<FoldersResult> {
  const { model, plan, runtime, folder, runtimeFolder } = prepared;
  const dir = plan.baked ? await fetchWeights({ ...options, model }, deps) : undefined;
  await options.report.step(`Build folders in ${folder}`, async () => {
    await writeFolders(prepared, deps);
    if (dir !== undefined) await writeWeights(folder, weightEntries(plan.spec, dir));
  });
  return { image: plan.image.references[0]!, runtime: runtime.name, folder, runtimeFolder };
}

/** Removes weights of an earlier build, which may be of another commit, and writes both folders. */
async function writeFolders(prepared: PreparedModel, { packageRoot }: CommandDeps): Promise<void> {
  const { folder, runtime, runtimeFolder } = prepared;
  await removeWeights(folder);
  await writeContext(folder, prepared);
  await writeRuntimeFolder(runtimeFolder, runtime, packageRoot);
}

export function cudaArguments({
  device,
  cudaProviderSha256,
}: ImageFlags): Record<string, string> | undefined {
  return device === 'cuda' ? { ORT_CUDA_SHA256: cudaProviderSha256 ?? '' } : undefined;
}
