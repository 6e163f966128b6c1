import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { isModelId } from '../../runtime/core/ids.js';
import { type ModelSpec, type RepoFile, totalBytes } from '../../runtime/core/spec.js';
import { makeFolder } from '../../runtime/store/make-folder.js';
import { type CommandDeps, reportOf } from '../deps.js';
import { BuilderError } from '../exit.js';
import { LABEL } from '../images/labels.js';
import {
  addImageOptions,
  addOutputOptions,
  addSourceOptions,
  type ImageFlags,
  type OutputFlags,
  type SourceFlags,
} from '../options.js';
import {
  cacheOf,
  cudaArguments,
  decideModel,
  fetchWeights,
  planImages,
  type PlannedImages,
  sourceOf,
} from '../pipeline.js';
import { megabytes, type Report } from '../report.js';
import { extractWeights, specOfImage } from '../seal/image-files.js';
import { noticeFiles, type Notices } from '../seal/notices.js';
import { planSeal } from '../seal/plan.js';
import { sealModel } from '../seal/seal.js';

type SnapshotFlags = SourceFlags & ImageFlags & OutputFlags & { dryRun?: boolean };

const NOTES = `
A sealed image holds the weights, the licence and model card, a manifest with the hash of every file, a bill of
materials (CycloneDX) and one recorded answer. It is made from verified files, never from a container: neither KEY nor
HF_TOKEN nor anything else of an environment is in it. It starts without asking anybody. "builder verify" proves it.

Examples:
  builder snapshot distilbert/distilbert-base-uncased-finetuned-sst-2-english
  builder snapshot slipway/org_model:latest      the model of an image, at that image's commit
  builder snapshot org/model --from ./exported   a local folder instead of the hub`;

/** `builder snapshot`: prints the name of the sealed image. */
export function snapshotCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('snapshot')
    .description('Make a sealed image: all weights inside, no secret, ready to be proven offline')
    .argument('<model-or-image>', 'id on the hub, or an image that builder has made', reference)
    .option('--dry-run', 'print what would be sealed and touch nothing')
    .addHelpText('after', NOTES);
  addOutputOptions(addImageOptions(addSourceOptions(command))).action(
    async (given: string, flags: SnapshotFlags) => {
      const report = reportOf(deps, flags);
      const subject = await subjectOf(given, { flags, report, deps });
      const images = await planImages(subject.spec, { ...flags, bake: true }, deps);
      if (flags.dryRun) return report.result(dryRunText(subject, images), dryRunDocument(subject, images));
      const context = { flags, report, deps };
      const notices = await fetchNotices(subject, context);
      const result = await withWeights(subject, context, (dir) =>
        sealModel(
          {
            images,
            dir,
            notices,
            buildArgs: cudaArguments(flags),
            packageRoot: deps.packageRoot,
            report,
          },
          deps.docker,
        ),
      );
      const { id: model, commit, task } = subject.spec;
      report.result(result.image, { ...result, model, commit, task, sealed: true });
    },
  );
}

function dryRunDocument({ spec, notices }: Subject, { plan, context, runtime }: PlannedImages) {
  const { references } = planSeal(plan, context, notices);
  return { references, runtime: runtime.name, notices: notices.map((file) => file.path), spec };
}

function dryRunText(subject: Subject, images: PlannedImages): string {
  const { references, notices } = dryRunDocument(subject, images);
  const { spec } = subject;
  return [
    `image    ${references.join(', ')} (${images.plan.platform}, ${images.plan.device})`,
    `runtime  ${images.runtime.name}`,
    `weights  ${megabytes(totalBytes(spec))} of ${spec.id} at ${spec.commit}, fetched now unless cached`,
    `notices  ${notices.join(', ') || 'none: neither licence text nor model card'}`,
  ].join('\n');
}

function reference(text: string): string {
  if (/^[\w][\w./:@-]*$/.test(text)) return text;
  throw new InvalidArgumentError(
    'expected org/name as on the hub, or an image such as slipway/org_name:latest',
  );
}

interface Subject {
  spec: ModelSpec;
  notices: RepoFile[];
  /** The image that was named, when one was. */
  image?: string;
}

interface Context {
  flags: SnapshotFlags;
  report: Report;
  deps: CommandDeps;
}

/** An image of ours by that name, else the model of that id. */
async function subjectOf(given: string, context: Context): Promise<Subject> {
  const { flags, report, deps } = context;
  await deps.docker.info();
  const image = flags.from === undefined ? await deps.docker.inspectImage(given) : undefined;
  if (image?.labels[LABEL.model] !== undefined) {
    const spec = await specOfImage(deps.docker, given);
    return { spec, image: given, notices: await noticesOf(spec, context) };
  }
  if (!isModelId(given)) {
    const what = `${given} is neither an image of builder's on this engine nor a model id (org/name)`;
    throw new BuilderError('usage', what);
  }
  const { spec, info } = await decideModel({ id: given, flags, report }, deps);
  return { spec, notices: noticeFiles(info.files) };
}

/** An image does not hold the licence text; where no hub answers, it is sealed without. */
async function noticesOf(spec: ModelSpec, { flags, report, deps }: Context): Promise<RepoFile[]> {
  try {
    const { source } = sourceOf(flags, deps);
    return noticeFiles((await source.info(spec.id, spec.commit)).files);
  } catch (error) {
    report.note(`without licence text and model card: ${(error as Error).message}`);
    return [];
  }
}

/** Runs `use` on the folder with the model's files: those of the image that was named, the cache, the hub. */
async function withWeights<T>(
  { spec, image }: Subject,
  { flags, report, deps }: Context,
  use: (dir: string) => Promise<T>,
): Promise<T> {
  const fetch = (places: string[]) =>
    fetchWeights({ id: spec.id, flags, report, model: { spec }, places, rehash: true }, deps);
  if (image === undefined) return use(await fetch([]));
  const root = cacheOf(flags, deps);
  await makeFolder(root);
  const scratch = await mkdtemp(path.join(root, 'image-'));
  try {
    await extractWeights(deps.docker, { reference: image, spec, into: scratch });
    return await use(await fetch([scratch]));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The folder with licence texts and model card. */
async function fetchNotices({ spec, notices }: Subject, { flags, report, deps }: Context): Promise<Notices> {
  if (notices.length === 0) return { files: [], dir: '' };
  const model = { spec: { ...spec, files: notices } };
  return {
    files: notices,
    dir: await fetchWeights({ id: spec.id, flags, report, model, rehash: true }, deps),
  };
}
