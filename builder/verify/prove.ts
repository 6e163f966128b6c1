import type { ArchiveSource } from '../archive/read.js';
import type { Docker } from '../docker/docker.js';
import { BuilderError } from '../exit.js';
import type { Report } from '../report.js';
import { fileArchive, isFile, savedImage } from '../transfer/sources.js';
import { requireSealed, readSealed, type ReadImage } from './files.js';
import { runOffline } from './offline-run.js';
import { goldenStep, networkStep } from './offline-steps.js';
import { withLoaded } from './on-engine.js';
import { type Step, stepOf } from './proof.js';
import { type RequiredSignature, signatureStep } from './signature.js';

export interface ProveOptions {
  /** Require this id: `sha256:` and the hash of the image's configuration. */
  id?: string | undefined;
  /** Require a signature; called when the image's id is known. */
  signature?: ((id: string) => Promise<RequiredSignature>) | undefined;
  /** Require the recorded answer byte for byte. */
  exact?: boolean | undefined;
  /** Leave the image of a tarball on the engine. */
  keep?: boolean | undefined;
  /** False: only hash the files. */
  run?: boolean | undefined;
}

/** Result of a proof; it has passed when all steps have. */
export interface Proof {
  read: ReadImage;
  steps: Step[];
  /** Undefined without a run. */
  exact: boolean | undefined;
}

/**
 * Proves that a sealed image is whole and answers without a network: hashes, an isolated run, the golden request.
 * @param given image of this engine, or a tarball of one
 * @throws BuilderError when it is neither, or `refused` when it is not sealed
 */
export async function prove(
  given: string,
  options: ProveOptions,
  { docker, report }: { docker: Docker; report: Report },
): Promise<Proof> {
  const subject = await subjectOf(given, docker);
  const read = await report.step(`Hash the files of ${given}`, () => readSealed(subject.source));
  const origin = await originSteps(read, options);
  const known = [...origin, ...read.steps];
  if (options.run === false) return { read, steps: known, exact: undefined };
  // An image of the wrong origin is not started.
  if (origin.some(({ passed }) => !passed)) return { read, steps: [...known, ...notRun()], exact: undefined };
  const proven = await proveRun(subject, { read, options, report, docker });
  return { read, steps: [...known, ...proven.steps], exact: proven.exact };
}

/** Checks the image against the required id and signature, which its own content can't prove. */
async function originSteps({ image, hashes }: ReadImage, { id, signature }: ProveOptions): Promise<Step[]> {
  const steps: Step[] = [];
  if (id !== undefined) {
    const wrong = `${id} was demanded: this is another image than the one that was sealed`;
    steps.push(stepOf('id', image.id, image.id === id ? [] : [wrong]));
  }
  if (signature) steps.push(await signatureStep(hashes, await signature(image.id)));
  return steps;
}

function notRun(): Step[] {
  const reason = ['not started: it is not the image that was demanded'];
  return [stepOf('network', 'not run', reason), stepOf('golden', 'not run', reason)];
}

/** Names of the steps that failed. */
export function failures({ steps }: Proof): string[] {
  return steps.filter(({ passed }) => !passed).map(({ step }) => step);
}

interface Subject {
  source: ArchiveSource;
  /** Id on the engine; undefined for a tarball. */
  id?: string;
}

async function subjectOf(given: string, docker: Docker): Promise<Subject> {
  if (await isFile(given)) return { source: fileArchive(given) };
  const image = await docker.inspectImage(given);
  if (!image) throw new BuilderError('failure', `${given} is neither an image of this engine nor a file`);
  requireSealed(image.labels, given);
  // By id, because the name may be moved meanwhile.
  return { source: { ...savedImage(docker, image.id), name: given }, id: image.id };
}

interface Proving {
  read: ReadImage;
  options: ProveOptions;
  report: Report;
  docker: Docker;
}

async function proveRun({ source, id }: Subject, { read, options, report, docker }: Proving) {
  const { image, golden } = read;
  const proveImage = (reference: string) =>
    report.step('Run it without a network', async (say) => {
      const run = await runOffline(docker, { image: reference, env: image.env, golden, say });
      const { step, exact } = goldenStep(run, golden, options.exact ?? false);
      return { steps: [networkStep(run), step], exact };
    });
  if (id !== undefined) return proveImage(id);
  return withLoaded(docker, { source, image, keep: options.keep ?? false }, proveImage);
}
