import { totalBytes } from '../../runtime/core/spec.js';
import type { CommandDeps } from '../deps.js';
import { BuilderError } from '../exit.js';
import { eachPlatform } from '../images/platforms.js';
import type { ImageChoice, OutputFlags, SourceFlags } from '../options.js';
import { finishModel } from '../pack/decide-model.js';
import {
  buildImage,
  type BuildResult,
  type FoldersResult,
  planImages,
  predictModel,
  type PreparedModel,
  writeCompleteFolders,
} from '../pipeline.js';
import type { ModelPlan } from '../plan/index.js';
import { type CommandResult, megabytes, type Report } from '../report.js';
import { planFor } from '../source.js';
import { planText } from './plan-text.js';

export type BuildFlags = SourceFlags &
  ImageChoice &
  OutputFlags & { dryRun?: boolean; foldersOnly?: boolean };

export interface BuildJob {
  id: string;
  flags: BuildFlags;
  report: Report;
}

const LOCAL_ONLY =
  'no hub has the state of a local folder: mount it at /server/model when the image runs, or build with --bake';

const NOT_ON_A_HUB =
  'weights that are packed or merged here are on no hub, where an image could fetch them at its start: build with --bake';

/** Reads the repository and decides. @throws StoreError, Refusal; BuilderError `usage` for weights that must be baked */
export async function planBuild(job: BuildJob, deps: CommandDeps): Promise<ModelPlan> {
  const planned = await planFor(job, deps);
  if (planned.packedWeights && !job.flags.bake) throw new BuilderError('usage', NOT_ON_A_HUB);
  return planned;
}

/** Weights that an export had to copy are known only once it is made. */
function requireOnHub(planned: ModelPlan, { spec }: ModelPlan, { bake, dryRun }: BuildFlags): void {
  if (bake || dryRun || !planned.toExport) return;
  const known = new Set(planned.spec.files.map(({ path }) => path));
  if (spec.files.some(({ path }) => !known.has(path))) throw new BuilderError('usage', NOT_ON_A_HUB);
}

export interface Built {
  /** One word for a table. */
  state: 'planned' | 'written' | 'built' | 'unchanged';
  /** One for each platform. */
  results: CommandResult[];
}

/** Builds the images of one model, or writes their folders, or says what would be done, as the flags ask. */
export async function buildOne(planned: ModelPlan, job: BuildJob, deps: CommandDeps): Promise<Built> {
  const { id, flags, report } = job;
  const model = flags.dryRun ? planned : await finishModel(planned, job, deps);
  requireOnHub(planned, model, flags);
  const platforms = eachPlatform(flags);
  const prepared: PreparedModel[] = [];
  for (const platform of platforms)
    prepared.push({ model, ...(await planImages(predictModel(model, platform), platform, deps)) });
  if (flags.dryRun) return { state: 'planned', results: prepared.map(dryRun) };
  if (flags.from !== undefined && !flags.bake) report.note(LOCAL_ONLY);
  if (flags.foldersOnly) {
    const written: FoldersResult[] = [];
    for (const [i, platform] of platforms.entries())
      written.push(await writeCompleteFolders(prepared[i]!, { id, flags: platform, report }, deps));
    return { state: 'written', results: written.map(folders) };
  }
  const images: BuildResult[] = [];
  for (const [i, platform] of platforms.entries())
    images.push(await buildImage(prepared[i]!, { id, flags: platform, report }, deps));
  if (images.length > 1) report.note(manifestHint(images));
  return {
    state: images.some((image) => image.built) ? 'built' : 'unchanged',
    results: images.map((image, i) => built(prepared[i]!.plan, image)),
  };
}

function built({ spec, baked, platform }: PreparedModel['plan'], result: BuildResult): CommandResult {
  const { id: model, commit, task } = spec;
  return { text: result.image, document: { ...result, model, commit, task, baked, platform } };
}

/** The runtime folder first, because it is built first. */
const folders = (result: FoldersResult): CommandResult => ({
  text: `${result.runtimeFolder}\n${result.folder}`,
  document: result,
});

const dryRun = (prepared: PreparedModel): CommandResult => ({
  text: dryRunText(prepared),
  document: dryRunDocument(prepared),
});

/** One name for all platforms needs a registry, since an engine has one image per name. */
function manifestHint(results: readonly BuildResult[]): string {
  const images = results.map(({ image }) => image);
  const name = `${images[0]!.slice(0, images[0]!.lastIndexOf(':'))}:all`;
  return `for one name over all platforms: push these, then "docker manifest create ${name} ${images.join(' ')}" and "docker manifest push ${name}"`;
}

function dryRunDocument({ model, plan, context, folder }: PreparedModel) {
  return {
    ...plan,
    labels: Object.fromEntries(plan.labels),
    reasons: model.reasons,
    folder,
    files: context.files,
  };
}

function dryRunText({ model, plan, context, folder }: PreparedModel): string {
  const files = Object.keys(context.files).map((name) => `${folder}/${name}`);
  const when = plan.baked ? 'fetched now, unless cached' : 'fetched by the container at its first start';
  return [
    planText(model),
    `image    ${plan.image.references.join(', ')} (${plan.platform}, ${plan.device})`,
    `runtime  ${plan.runtime}`,
    `weights  ${megabytes(totalBytes(model.spec))}, ${when}`,
    ...files.map((file) => `write    ${file}`),
  ].join('\n');
}
