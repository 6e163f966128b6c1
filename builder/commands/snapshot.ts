import { type Command, InvalidArgumentError } from 'commander';
import { totalBytes } from '../../runtime/core/spec.js';
import { type CommandDeps, reportOf } from '../deps.js';
import type { Platform } from '../images/platform.js';
import { eachPlatform } from '../images/platforms.js';
import {
  addImageOptions,
  addOutputOptions,
  addSourceOptions,
  type ImageChoice,
  type ImageFlags,
  type OutputFlags,
  type SourceFlags,
} from '../options.js';
import { cudaArguments, type Figured, planImages, type PlannedImages, predicted } from '../pipeline.js';
import { megabytes, type Report, type Said, together } from '../report.js';
import type { Notices } from '../seal/notices.js';
import { planSeal } from '../seal/plan.js';
import { sealModel } from '../seal/seal.js';
import { fetchNotices, type Subject, subjectOf, withWeights } from '../seal/subject.js';

type SnapshotFlags = SourceFlags & ImageFlags & OutputFlags & { dryRun?: boolean };
type SnapshotChoice = SourceFlags & ImageChoice & OutputFlags & { dryRun?: boolean };

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
    async (given: string, choice: SnapshotChoice) => {
      const report = reportOf(deps, choice);
      const context = { flags: choice, report, deps };
      const subject = await subjectOf(given, context);
      if (choice.dryRun) return report.result(...together(await dryRuns(subject, choice, deps)));
      const host = (await deps.docker.info()).platform as Platform;
      const [own] = eachPlatform({ ...choice, platform: [host] });
      const notices = await fetchNotices(subject, context);
      const said: Said[] = [];
      await withWeights(subject, context, async (dir) => {
        for (const flags of eachPlatform(choice))
          said.push(await snapshot(subject, { flags, own: own!, dir, notices, report, deps }));
      });
      report.result(...together(said));
    },
  );
}

interface Context {
  flags: SnapshotFlags;
  /** The same for the engine's own platform. */
  own: SnapshotFlags;
  /** Folder with the model's files. */
  dir: string;
  notices: Notices;
  report: Report;
  deps: CommandDeps;
}

/** Seals for one platform. */
async function snapshot(subject: Subject, { flags, own, deps, ...given }: Context): Promise<Said> {
  const { packageRoot, docker } = deps;
  const planned = (choice: SnapshotFlags) =>
    planImages(figured(subject, choice), { ...choice, bake: true }, deps);
  const images = await planned(flags);
  const native = flags.platform === own.platform ? undefined : await planned(own);
  const result = await sealModel(
    { ...given, images, native, buildArgs: cudaArguments(flags), packageRoot },
    docker,
  );
  given.report.note(`id  ${result.id}  (write it down: "builder verify --id" demands it)`);
  const { id: model, commit, task } = subject.spec;
  const { platform } = images.plan;
  return { text: result.image, document: { ...result, model, commit, task, platform, sealed: true } };
}

function figured({ spec, figures, model }: Subject, flags: SnapshotFlags): Figured {
  return model ? predicted(model, flags) : { spec, figures };
}

async function dryRuns(subject: Subject, choice: SnapshotChoice, deps: CommandDeps): Promise<Said[]> {
  const said: Said[] = [];
  for (const flags of eachPlatform(choice)) {
    const images = await planImages(figured(subject, flags), { ...flags, bake: true }, deps);
    said.push({ text: dryRunText(subject, images), document: dryRunDocument(subject, images) });
  }
  return said;
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
