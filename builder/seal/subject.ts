import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { isModelId } from '../../runtime/core/ids.js';
import type { ModelSpec, RepoFile } from '../../runtime/core/spec.js';
import { makeFolder } from '../../runtime/store/make-folder.js';
import type { CommandDeps } from '../deps.js';
import { BuilderError } from '../exit.js';
import { figuresOf, LABEL } from '../images/labels.js';
import type { SourceFlags } from '../options.js';
import type { ModelPlan } from '../plan/index.js';
import type { Figures } from '../plan/figures.js';
import { fetchWeights } from '../fetch-weights.js';
import { decideModel } from '../pack/decide-model.js';
import { cacheFolder, planFor, planSource } from '../source.js';
import type { Report } from '../report.js';
import { extractWeights, specOfImage } from './image-files.js';
import { layeredNotices, noticeFiles, type Notices } from './notices.js';

/** What to seal. */
export interface SealSubject {
  spec: ModelSpec;
  notices: RepoFile[];
  /** The given image, if one was given, and the figures of its labels. */
  image?: string;
  figures?: Figures | undefined;
  tools?: string | undefined;
  /** The model's plan, if no image was given. */
  model?: ModelPlan;
}

export interface SubjectContext {
  flags: SourceFlags;
  /** Make and change nothing. */
  dryRun?: boolean | undefined;
  report: Report;
  deps: CommandDeps;
}

/** The model image of that name, else the model of that id. */
export async function readSealSubject(given: string, context: SubjectContext): Promise<SealSubject> {
  const { flags, report, deps } = context;
  await deps.docker.info();
  const image = flags.from === undefined ? await deps.docker.inspectImage(given) : undefined;
  if (image?.labels[LABEL.model] !== undefined) {
    const spec = await specOfImage(deps.docker, given);
    const [figures, tools] = [figuresOf(image.labels), image.labels[LABEL.tools]];
    return { spec, image: given, figures, tools, notices: await noticesOf(spec, context) };
  }
  if (!isModelId(given)) {
    const what = `${given} is neither an image of builder's on this engine nor a model id (org/name)`;
    throw new BuilderError('usage', what);
  }
  const decide = context.dryRun ? planFor : decideModel;
  const model = await decide({ id: given, flags, report }, deps);
  return { spec: model.spec, model, notices: noticeFiles(model.info.files) };
}

/** Images don't hold licence texts; if the hub does not answer, the image is sealed without. */
async function noticesOf(spec: ModelSpec, { flags, report, deps }: SubjectContext): Promise<RepoFile[]> {
  try {
    const { source } = planSource(flags, deps, report.note);
    const own = (await source.info(spec.id, spec.commit)).files;
    if (!spec.base) return noticeFiles(own);
    const below = (await source.info(spec.base.id, spec.base.commit)).files;
    return layeredNotices(own, below, spec.base);
  } catch (error) {
    report.note(`without licence text and model card: ${(error as Error).message}`);
    return [];
  }
}

/** Calls `use` with a folder of the model's files: from the given image, the cache or the hub. */
export async function withWeights<T>(
  { spec, image }: SealSubject,
  { flags, report, deps }: SubjectContext,
  use: (dir: string) => Promise<T>,
): Promise<T> {
  const fetch = (folders: string[]) =>
    fetchWeights({ id: spec.id, flags, report, model: { spec }, folders, rehash: true }, deps);
  if (image === undefined) return use(await fetch([]));
  const root = cacheFolder(flags, deps);
  await makeFolder(root);
  const scratch = await mkdtemp(path.join(root, 'image-'));
  try {
    await extractWeights(deps.docker, { reference: image, spec, into: scratch });
    return await use(await fetch([scratch]));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Fetches licence texts and model card. */
export async function fetchNotices(
  { spec, notices }: SealSubject,
  { flags, report, deps }: SubjectContext,
): Promise<Notices> {
  if (notices.length === 0) return { files: [], dir: '' };
  const model = { spec: { ...spec, files: notices } };
  const what = 'licence texts and model cards';
  return {
    files: notices,
    dir: await fetchWeights({ id: spec.id, flags, report, model, rehash: true, what }, deps),
  };
}
