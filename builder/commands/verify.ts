import type { Command } from 'commander';
import type { ArchiveSource } from '../archive/read.js';
import { type CommandDeps, reportOf } from '../deps.js';
import { BuilderError } from '../exit.js';
import { addOutputOptions, type OutputFlags } from '../options.js';
import type { Report } from '../report.js';
import { fileArchive, isFile, savedImage } from '../transfer/sources.js';
import { demandSealed, readSealed, type ReadImage } from '../verify/files.js';
import { runOffline } from '../verify/offline-run.js';
import { goldenStep, networkStep } from '../verify/offline-steps.js';
import { withLoaded } from '../verify/on-engine.js';
import { proofText, type Step } from '../verify/proof.js';

type VerifyFlags = OutputFlags & { exact?: boolean; keep?: boolean; run: boolean };

const NOTES = `
Three steps: the hash of every file against the sealed manifest, read from the archive and not by the image's own code;
a run without a network in which any attempt to reach one fails the proof; and the golden request, whose answer must be
the recorded one. None of them needs a network. A tarball is loaded for the run and removed again.

Exit 0 when all pass, 1 when one fails, 3 when the image is not sealed.

Examples:
  builder verify slipway/org_model:sealed
  builder verify model.tar.gz --json
  builder verify model.tar.gz --no-run     hashes only; needs no Docker Engine`;

/** `builder verify`: the offline proof of a sealed image. */
export function verifyCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('verify')
    .description('Prove that a sealed image is whole and answers without a network')
    .argument('<image|file>', 'sealed image of this engine, or a tarball of one')
    .option('--exact', 'demand the recorded answer byte for byte, on any processor')
    .option('--keep', 'leave the image of a tarball on the engine')
    .option('--no-run', 'only hash the files')
    .addHelpText('after', NOTES);
  addOutputOptions(command).action((given: string, flags: VerifyFlags) => verify(given, flags, deps));
}

async function verify(given: string, flags: VerifyFlags, deps: CommandDeps): Promise<void> {
  const report = reportOf(deps, flags);
  const subject = await subjectOf(given, deps);
  const read = await report.step(`Hash the files of ${given}`, () => readSealed(subject.source));
  const proven = flags.run ? await proveRun(subject, { read, flags, report, deps }) : { steps: [] };
  const { steps, exact } = { exact: undefined, ...proven };
  tell(report, { given, read, steps: [read.step, ...steps], exact });
}

interface Subject {
  source: ArchiveSource;
  /** Id on the engine; undefined for a tarball. */
  id?: string;
}

/** @throws BuilderError when it is neither, or `refused` when it is not sealed */
async function subjectOf(given: string, { docker }: CommandDeps): Promise<Subject> {
  if (await isFile(given)) return { source: fileArchive(given) };
  const image = await docker.inspectImage(given);
  if (!image) throw new BuilderError('failure', `${given} is neither an image of this engine nor a file`);
  demandSealed(image.labels, given);
  // By its id: the name may move while it is read.
  return { source: { ...savedImage(docker, image.id), name: given }, id: image.id };
}

interface Proving {
  read: ReadImage;
  flags: VerifyFlags;
  report: Report;
  deps: CommandDeps;
}

async function proveRun({ source, id }: Subject, { read, flags, report, deps }: Proving) {
  const { docker } = deps;
  const { image, golden } = read;
  const prove = (reference: string) =>
    report.step('Run it without a network', async (say) => {
      const run = await runOffline(docker, { image: reference, env: image.env, golden, say });
      const { step, exact } = goldenStep(run, golden, flags.exact ?? false);
      return { steps: [networkStep(run), step], exact };
    });
  if (id !== undefined) return prove(id);
  return withLoaded(docker, { source, image, keep: flags.keep ?? false }, prove);
}

interface Proof {
  given: string;
  read: ReadImage;
  steps: Step[];
  /** Undefined without a run. */
  exact: boolean | undefined;
}

/** @throws BuilderError `failure` unless every step has passed */
function tell(report: Report, { given, read, steps, exact }: Proof): void {
  const { model, commit, task, platform } = read.manifest;
  const failed = steps.filter(({ passed }) => !passed).map(({ step }) => step);
  const passed = failed.length === 0;
  const about = { image: given, id: read.image.id, model, commit, task, platform };
  report.result(proofText(steps), { ...about, passed, exact, recordedOn: read.golden.recordedOn, steps });
  if (!passed) throw new BuilderError('failure', `${given} is not proven: ${failed.join(', ')}`);
}
