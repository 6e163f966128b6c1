import type { KeyObject } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { totalBytes } from '../../runtime/core/spec.js';
import { type CommandDeps, reportOf } from '../deps.js';
import type { Platform } from '../images/platform.js';
import { eachPlatform } from '../images/platforms.js';
import {
  addImageOptions,
  addOutputOptions,
  addPackingOptions,
  addSourceOptions,
  type ImageChoice,
  type ImageFlags,
  type OutputFlags,
  type SourceFlags,
} from '../options.js';
import { cudaArguments, type SizedModel, planImages, type PlannedImages, predictModel } from '../pipeline.js';
import { megabytes, type Report, type CommandResult, combineResults } from '../report.js';
import type { Notices } from '../seal/notices.js';
import { planSeal } from '../seal/plan.js';
import { sealModel, type SealResult } from '../seal/seal.js';
import { fetchNotices, type SealSubject, readSealSubject, withWeights } from '../seal/subject.js';
import { signStatement } from '../sign/bundle.js';
import { readPrivateKey } from '../sign/keys.js';
import { signatureFile, writeBundle } from '../sign/store.js';

type OwnFlags = OutputFlags & { dryRun?: boolean; signKey?: string };
type SnapshotFlags = SourceFlags & ImageFlags & OwnFlags;
type SnapshotChoice = SourceFlags & ImageChoice & OwnFlags;

const NOTES = `
A sealed image holds the weights, the licence and model card, a manifest with the hash of every file, a bill of
materials (CycloneDX) and one recorded answer. It is made from verified files, never from a container, so neither KEY nor
HF_TOKEN nor anything else of an environment is in it. It starts without a network. "builder verify" proves that.

The id that is printed on stderr (and with --json) covers every byte of the image; "builder verify --id" requires it.
--sign-key signs the image's id, its manifest and its bill of materials. The image can't contain the signature: it is
stored in ~/.local/share/slipway/signatures, and "builder export" copies it beside its file. cosign reads it.

Examples:
  builder snapshot distilbert/distilbert-base-uncased-finetuned-sst-2-english
  builder snapshot org/model --sign-key release.key
  builder snapshot slipway/org_model:latest      the model of an image, at that image's commit
  builder snapshot org/model --from ./exported   a local folder instead of the hub`;

/** `builder snapshot`: prints the name of the sealed image. */
export function snapshotCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('snapshot')
    .description('Make a sealed image: all weights inside, no secrets, verifiable offline')
    .argument('<model-or-image>', 'id on the hub, or a model image', reference)
    .option('--sign-key <file>', 'sign the image with this private key (PEM, from "builder keygen")')
    .option('--dry-run', 'print what would be sealed; change nothing')
    .addHelpText('after', NOTES);
  addOutputOptions(addImageOptions(addPackingOptions(addSourceOptions(command)))).action(
    async (given: string, choice: SnapshotChoice) => {
      const report = reportOf(deps, choice);
      const context = { flags: choice, report, deps, dryRun: choice.dryRun };
      const key = await readSignKey(choice, deps);
      const subject = await readSealSubject(given, context);
      if (choice.dryRun) return report.result(...combineResults(await dryRuns(subject, choice, deps)));
      const host = (await deps.docker.info()).platform as Platform;
      const [own] = eachPlatform({ ...choice, platform: [host] });
      const notices = await fetchNotices(subject, context);
      const results: CommandResult[] = [];
      await withWeights(subject, context, async (dir) => {
        for (const flags of eachPlatform(choice))
          results.push(await snapshot(subject, { flags, own: own!, dir, notices, key, report, deps }));
      });
      report.result(...combineResults(results));
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
  /** Signs the image. */
  key: KeyObject | undefined;
  report: Report;
  deps: CommandDeps;
}

/** Seals for one platform. */
async function snapshot(
  subject: SealSubject,
  { flags, own, deps, key, ...given }: Context,
): Promise<CommandResult> {
  const { packageRoot, docker } = deps;
  const planned = (choice: SnapshotFlags) =>
    planImages(withFigures(subject, choice), { ...choice, bake: true }, deps);
  const images = await planned(flags);
  const native = flags.platform === own.platform ? undefined : await planned(own);
  const buildArgs = { ...deps.config.proxyArguments, ...cudaArguments(flags) };
  const result = await sealModel({ ...given, images, native, buildArgs, packageRoot }, docker);
  const { id: model, commit, task } = subject.spec;
  const { platform } = images.plan;
  const { statement: _, ...fields } = result;
  const signature = key && (await sign(result, key, deps));
  given.report.note(`id      ${result.id}  ("builder verify --id" demands it)`);
  if (signature !== undefined) given.report.note(`signed  ${signature}`);
  const about = { model, commit, task, platform, sealed: true, signature: signature ?? null };
  return { text: result.image, document: { ...fields, ...about } };
}

/** Called before anything is fetched, so that a wrong key fails early. */
async function readSignKey({ signKey: file }: SnapshotChoice, { config }: CommandDeps) {
  return file === undefined ? undefined : readPrivateKey(file, config.passphrase);
}

/** @returns the signature's file */
async function sign({ id, statement }: SealResult, key: KeyObject, { config }: CommandDeps): Promise<string> {
  const file = signatureFile(config.data, id);
  await writeBundle(file, await signStatement(statement, key));
  return file;
}

function withFigures({ spec, figures, tools, model }: SealSubject, flags: SnapshotFlags): SizedModel {
  return model ? predictModel(model, flags) : { spec, figures, tools };
}

async function dryRuns(
  subject: SealSubject,
  choice: SnapshotChoice,
  deps: CommandDeps,
): Promise<CommandResult[]> {
  const results: CommandResult[] = [];
  for (const flags of eachPlatform(choice)) {
    const images = await planImages(withFigures(subject, flags), { ...flags, bake: true }, deps);
    results.push({ text: dryRunText(subject, images), document: dryRunDocument(subject, images) });
  }
  return results;
}

function dryRunDocument({ spec, notices }: SealSubject, { plan, context, runtime }: PlannedImages) {
  const { references } = planSeal(plan, context, notices);
  return { references, runtime: runtime.name, notices: notices.map((file) => file.path), spec };
}

function dryRunText(subject: SealSubject, images: PlannedImages): string {
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
