import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Docker, ImageDetails } from '../docker/docker.js';
import { BuilderError } from '../exit.js';
import { LABEL } from '../images/labels.js';
import { ensureModelImage, refuseForeign, writeContext } from '../images/model-image.js';
import { labelArguments, render } from '../images/render.js';
import { ensureRuntimeImage } from '../images/runtime-image.js';
import { tarStream } from '../images/tar.js';
import { weightEntries } from '../images/weights.js';
import type { PlannedImages } from '../pipeline.js';
import type { Report } from '../report.js';
import { proofText } from '../verify/proof.js';
import { failures, prove } from '../verify/prove.js';
import { sealContents, type SealContents } from './contents.js';
import type { Notices } from './notices.js';
import { planSeal, sealLabels, type SealPlan } from './plan.js';
import { recordGolden } from './record.js';

export interface SealOptions {
  /** Of a baked image. */
  images: PlannedImages;
  /** Folder with the model's verified files and the notices. */
  dir: string;
  notices: Notices;
  /** Of the runtime image's build. */
  buildArgs: Record<string, string> | undefined;
  packageRoot: string;
  report: Report;
}

/** What sealing gave, as `--json` prints it. */
export interface SealResult {
  image: string;
  references: string[];
  id: string;
  /** False when a sealed image of the same inputs was there. */
  built: boolean;
  bytes: number;
  /** Hex SHA-256 of /server/sealed/manifest.json. */
  manifest: string;
  notices: string[];
  folder: string;
}

/**
 * Makes a sealed image from files: the model with its weights, started once without a network to record its golden
 * answer, and a layer that says what is in it. No container is ever committed, so nothing of an environment gets in. It
 * has its names only once it has passed its offline proof.
 */
export async function sealModel(options: SealOptions, docker: Docker): Promise<SealResult> {
  const { images, notices } = options;
  const seal = planSeal(images.plan, images.context, notices.files);
  const existing = await docker.inspectImage(seal.references[0]!);
  if (existing) refuseForeign(existing.labels[LABEL.model], images.plan);
  if (existing?.labels[LABEL.build] === seal.digest) {
    await docker.tagImage(existing.id, seal.references[1]!);
    return resultOf(options, seal, { image: existing, built: false });
  }
  const stage = `${images.plan.image.repository}:sealing-${randomBytes(4).toString('hex')}`;
  const sealed = `${stage}-unproven`;
  try {
    const image = await stageModel(options, { stage, docker });
    return resultOf(options, seal, {
      image: await sealStage(options, { seal, stage, sealed, image, docker }),
      built: true,
    });
  } finally {
    for (const name of [stage, sealed]) await docker.removeImage(name);
  }
}

function resultOf(
  { images, notices }: SealOptions,
  { references }: SealPlan,
  { image, built }: { image: ImageDetails; built: boolean },
): SealResult {
  return {
    image: references[0]!,
    references,
    id: image.id,
    built,
    bytes: image.size,
    manifest: image.labels[LABEL.manifest]!,
    notices: notices.files.map((file) => file.path),
    folder: path.join(images.folder, 'sealed'),
  };
}

interface Stage {
  /** Name of the unsealed image while there is one. */
  stage: string;
  docker: Docker;
}

interface Sealing extends Stage {
  seal: SealPlan;
  /** Name of the sealed image until it is proven. */
  sealed: string;
}

/** The baked image under a name of its own; a baked image of the same inputs that is there is taken. */
async function stageModel(
  { images, dir, buildArgs, report }: SealOptions,
  { stage, docker }: Stage,
): Promise<ImageDetails> {
  const { plan, context, runtime, folder } = images;
  await writeContext(folder, context);
  const baked = await docker.inspectImage(plan.image.references[0]!);
  if (baked?.labels[LABEL.build] === context.digest) {
    await docker.tagImage(baked.id, stage);
    return baked;
  }
  await report.step(`Runtime image ${runtime.name}`, (onLine) =>
    ensureRuntimeImage(runtime, { docker, onLine, buildArgs }),
  );
  const staged = { ...plan, image: { ...plan.image, references: [stage] } };
  return report.step(`Model image ${plan.image.repository}`, (onLine) =>
    ensureModelImage({ plan: staged, context, weights: weightEntries(plan.spec, dir) }, { docker, onLine }),
  );
}

async function sealStage(
  options: SealOptions,
  { image, ...sealing }: Sealing & { image: ImageDetails },
): Promise<ImageDetails> {
  const { images, dir, notices, packageRoot, report } = options;
  const { plan, context, runtime } = images;
  const { seal, stage, sealed, docker } = sealing;
  const golden = await report.step('Golden answer, without a network', (say) =>
    recordGolden(docker, { image: stage, task: plan.spec.task, platform: plan.platform, onOutput: say }),
  );
  const layers = { runtime: runtime.entries, weights: weightEntries(plan.spec, dir) };
  const contents = await report.step('Hashes of all files', () =>
    sealContents({ plan, context, notices, layers, image, golden, packageRoot }, docker),
  );
  await buildSealed(options, { ...sealing, contents });
  await demandProof(sealed, { docker, report });
  for (const reference of seal.references) await docker.tagImage(sealed, reference);
  return (await docker.inspectImage(seal.references[0]!))!;
}

async function buildSealed(
  { images, packageRoot, report }: SealOptions,
  { seal, stage, sealed, docker, contents }: Sealing & { contents: SealContents },
): Promise<void> {
  const template = await readFile(path.join(packageRoot, 'templates/sealed.Dockerfile.eta'), 'utf8');
  const labels = labelArguments(sealLabels(seal, contents.manifestSha256));
  const dockerfile = render(template, { from: stage, labels });
  await writeContext(path.join(images.folder, 'sealed'), { files: readable(contents, dockerfile) });
  const entries = [{ path: 'Dockerfile', content: dockerfile }, ...contents.entries];
  await report.step(`Sealed image ${seal.references[0]}`, async (onLine) => {
    const { platform } = await docker.info();
    const foreign = platform === images.plan.platform ? {} : { platform: images.plan.platform };
    await docker.buildImage(tarStream(entries), { references: [sealed], ...foreign }, onLine);
  });
}

/** An image that does not pass its own proof gets no name. @throws BuilderError with what is wrong */
async function demandProof(image: string, tools: { docker: Docker; report: Report }): Promise<void> {
  const proof = await prove(image, {}, tools);
  if (failures(proof).length === 0) return;
  throw new BuilderError(
    'failure',
    `the sealed image does not pass its own proof:\n${proofText(proof.steps)}`,
  );
}

/** The texts of the sealing layer, for reading and review. */
function readable({ entries }: SealContents, dockerfile: string): Record<string, string> {
  const texts = entries.flatMap(({ path: name, content }) =>
    typeof content === 'string' ? [[path.posix.basename(name), content]] : [],
  );
  return { Dockerfile: dockerfile, ...Object.fromEntries(texts) };
}
