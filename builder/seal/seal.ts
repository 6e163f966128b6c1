import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Docker, ImageDetails } from '../docker/docker.js';
import { BuilderError } from '../exit.js';
import { LABEL } from '../images/labels.js';
import { refuseForeign, writeFiles } from '../images/model-image.js';
import { labelArguments, render } from '../images/render.js';
import { tarStream } from '../images/tar.js';
import { weightEntries } from '../images/weights.js';
import type { PlannedImages } from '../pipeline.js';
import { type Figures, limitMeasured } from '../plan/figures.js';
import { parametersIn } from '../plan/parameters.js';
import type { Report } from '../report.js';
import type { ReadImage } from '../verify/files.js';
import { proofText } from '../verify/proof.js';
import { formatStatement } from '../sign/statement.js';
import { failures, prove } from '../verify/prove.js';
import { sealContents, type SealContents } from './contents.js';
import type { Notices } from './notices.js';
import { planSeal, sealLabels, type SealPlan } from './plan.js';
import type { RecordedRun } from './record.js';
import { goldenOf, nativeGolden, type Stage, stageModel, stageName, type StageOptions } from './stage.js';

export interface SealOptions extends StageOptions {
  /** The same model for the engine's own platform, if the image is for another platform. */
  native?: PlannedImages | undefined;
  notices: Notices;
  packageRoot: string;
}

/** Result of sealing, as `--json` prints it. */
export interface SealResult {
  image: string;
  references: string[];
  /** Hash of the image's configuration, which covers all layers; for "builder verify --id". */
  id: string;
  /** False if a sealed image of the same inputs existed. */
  built: boolean;
  bytes: number;
  /** Hex SHA-256 of /server/sealed/manifest.json. */
  manifest: string;
  notices: string[];
  /** False if the image is for another platform; then only its files were verified. */
  ran: boolean;
  folder: string;
  /** The statement to be signed. */
  statement: string;
}

/**
 * Makes a sealed image: starts the baked image once without a network to record its golden answer, then adds the sealing
 * layer. No container is committed, so nothing of an environment gets in. The image gets its names only after it has
 * passed the offline proof.
 */
export async function sealModel(options: SealOptions, docker: Docker): Promise<SealResult> {
  const { images, notices, report } = options;
  const seal = planSeal(images.plan, images.context, notices.files);
  const existing = await docker.inspectImage(seal.references[0]!);
  if (existing) refuseForeign(existing.labels[LABEL.model], images.plan);
  if (existing?.labels[LABEL.build] === seal.digest) {
    const read = await demandProof(existing.id, { run: false }, { docker, report }).catch(
      refuseChangedImage(seal),
    );
    await docker.tagImage(existing.id, seal.references[1]!);
    return withStatement(resultOf(options, seal, { image: existing, read, built: false }));
  }
  const stage = stageName(images);
  const sealed = `${stage}-unproven`;
  try {
    const staged = await stageModel(options, { stage, docker });
    const made = await sealStage(options, { seal, stage, sealed, image: staged, docker });
    return await withStatement(resultOf(options, seal, { ...made, built: true }));
  } finally {
    for (const name of [stage, sealed]) await docker.removeImage(name);
  }
}

/** Writes the statement to the build folder, so that other tools can sign it. */
async function withStatement(result: SealResult): Promise<SealResult> {
  await writeFiles(result.folder, { 'statement.json': result.statement });
  return result;
}

/** The tag points to an image that was changed later but still has the labels of the original. */
function refuseChangedImage({ references }: SealPlan): (error: Error) => never {
  return (error) => {
    if (!(error instanceof BuilderError)) throw error;
    const remedy = `remove what is there with "docker rmi ${references.join(' ')}", and seal again`;
    throw new BuilderError(error.exit, `${error.message}\n${remedy}`, { cause: error });
  };
}

interface Made {
  image: ImageDetails;
  read: ReadImage;
}

function resultOf(
  { images, native, notices }: SealOptions,
  { references }: SealPlan,
  { image, read, built }: Made & { built: boolean },
): SealResult {
  return {
    image: references[0]!,
    references,
    id: read.image.id,
    built,
    bytes: image.size,
    manifest: image.labels[LABEL.manifest]!,
    notices: notices.files.map((file) => file.path),
    ran: native === undefined,
    folder: path.join(images.folder, 'sealed'),
    statement: formatStatement(read.hashes, read.manifest),
  };
}

interface Sealing extends Stage {
  seal: SealPlan;
  /** Temporary name of the sealed image until it is verified. */
  sealed: string;
}

async function sealStage(
  options: SealOptions,
  { image, ...sealing }: Sealing & { image: ImageDetails },
): Promise<Made> {
  const { images, native, dir, notices, packageRoot, report } = options;
  const { plan, context, runtime } = images;
  const { seal, stage, sealed, docker } = sealing;
  const { golden, ...run } = native
    ? { golden: await nativeGolden(options, native, docker) }
    : await goldenOf(stage, images, { docker, report });
  const layers = { runtime: runtime.entries, weights: weightEntries(plan.spec, dir) };
  const labels = sealLabels(seal, await measured(options, run));
  const contents = await report.step('Hashes of all files', () =>
    sealContents({ plan, context, notices, layers, image, golden, labels, packageRoot }, docker),
  );
  await buildSealed(options, { ...sealing, contents, labels });
  const read = await demandProof(sealed, { run: native === undefined }, { docker, report });
  for (const reference of seal.references) await docker.tagImage(sealed, reference);
  return { image: (await docker.inspectImage(seal.references[0]!))!, read };
}

/** Measured figures; undefined for another platform or a GPU. */
async function measured(
  { images, dir }: SealOptions,
  { memory, loadSeconds }: Partial<Omit<RecordedRun, 'golden'>>,
): Promise<Figures | undefined> {
  const { device, spec } = images.plan;
  if (device !== 'cpu' || !memory) return undefined;
  const memoryBytes = await limitMeasured(dir, spec, memory);
  return { memoryBytes, loadSeconds, parameters: parametersIn(dir, spec), basis: 'measured' };
}

async function buildSealed(
  { images, packageRoot, report }: SealOptions,
  {
    seal,
    stage,
    sealed,
    docker,
    contents,
    labels,
  }: Sealing & { contents: SealContents; labels: [string, string][] },
): Promise<void> {
  const template = await readFile(path.join(packageRoot, 'templates/sealed.Dockerfile.eta'), 'utf8');
  const all = labelArguments([...labels, [LABEL.manifest, contents.manifestSha256]]);
  const dockerfile = render(template, { from: stage, labels: all });
  await writeFiles(path.join(images.folder, 'sealed'), reviewFiles(contents, dockerfile));
  const entries = [{ path: 'Dockerfile', content: dockerfile }, ...contents.entries];
  await report.step(`Sealed image ${seal.references[0]}`, async (onLine) => {
    const { platform } = await docker.info();
    const foreign = platform === images.plan.platform ? {} : { platform: images.plan.platform };
    await docker.buildImage(tarStream(entries), { references: [sealed], ...foreign }, onLine);
  });
}

/** Runs the offline proof. @throws BuilderError with the problems found */
async function demandProof(
  image: string,
  options: { run: boolean },
  tools: { docker: Docker; report: Report },
): Promise<ReadImage> {
  const proof = await prove(image, options, tools);
  if (failures(proof).length === 0) return proof.read;
  throw new BuilderError(
    'failure',
    `the sealed image does not pass its own proof:\n${proofText(proof.steps)}`,
  );
}

/** The text files of the sealing layer, for review. */
function reviewFiles({ entries }: SealContents, dockerfile: string): Record<string, string> {
  const texts = entries.flatMap(({ path: name, content }) =>
    typeof content === 'string' ? [[path.posix.basename(name), content]] : [],
  );
  return { Dockerfile: dockerfile, ...Object.fromEntries(texts) };
}
