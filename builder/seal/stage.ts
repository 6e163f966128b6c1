import { randomBytes } from 'node:crypto';
import type { Docker, ImageDetails } from '../docker/docker.js';
import { LABEL } from '../images/labels.js';
import { ensureModelImage, writeContext } from '../images/model-image.js';
import { ensureRuntimeImage } from '../images/runtime-image.js';
import { weightEntries } from '../images/weights.js';
import type { PlannedImages } from '../pipeline.js';
import type { Report } from '../report.js';
import type { Golden } from './golden.js';
import { type RecordedRun, recordGolden } from './record.js';

/** Input of the image to be sealed. */
export interface StageOptions {
  /** Plan of the baked image. */
  images: PlannedImages;
  /** Folder with the model's verified files and the notices. */
  dir: string;
  /** Build arguments of the runtime image. */
  buildArgs: Record<string, string> | undefined;
  report: Report;
}

export interface Stage {
  /** Temporary name of the unsealed image. */
  stage: string;
  docker: Docker;
}

/** A unique temporary name. */
export function stageName({ plan }: PlannedImages): string {
  return `${plan.image.repository}:sealing-${randomBytes(4).toString('hex')}`;
}

/** Builds the baked image under the temporary name, or reuses one of the same inputs. */
export async function stageModel(
  { images, dir, buildArgs, report }: StageOptions,
  { stage, docker }: Stage,
): Promise<ImageDetails> {
  const { plan, context, runtime, folder } = images;
  await writeContext(folder, images);
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

/** Records the golden answer and the figures of a staged image. */
export function goldenOf(
  image: string,
  { plan }: PlannedImages,
  { docker, report }: { docker: Docker; report: Report },
): Promise<RecordedRun> {
  return report.step('Golden answer, without a network', (say) =>
    recordGolden(docker, { image, task: plan.spec.task, platform: plan.platform, onOutput: say }),
  );
}

/** For an image of another platform, records with the same model and server on this platform. */
export async function nativeGolden(
  options: StageOptions,
  native: PlannedImages,
  docker: Docker,
): Promise<Golden> {
  const { report, images } = options;
  const { platform } = images.plan;
  report.note(
    `${platform} does not run here: the golden answer is recorded on ${native.plan.platform}; ` +
      `prove the image with "builder verify" on a machine of its kind`,
  );
  const stage = stageName(native);
  try {
    await stageModel({ ...options, images: native }, { stage, docker });
    return (await goldenOf(stage, native, { docker, report })).golden;
  } finally {
    await docker.removeImage(stage);
  }
}
