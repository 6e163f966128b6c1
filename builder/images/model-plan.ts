import { createHash } from 'node:crypto';
import type { Device, ModelSpec } from '../../runtime/core/spec.js';
import { formatSpec } from '../../runtime/store/spec-file.js';
import type { Figures } from '../plan/figures.js';
import { isFigure, LABEL, modelLabels } from './labels.js';
import { imageName, type ImageName } from './names.js';
import type { Platform } from './platform.js';
import { labelArguments, render } from './render.js';

/** What one build will do, as data; `--dry-run` prints it. */
export interface BuildPlan {
  spec: ModelSpec;
  image: ImageName;
  /** Reference of the runtime image that it starts from. */
  runtime: string;
  device: Device;
  platform: Platform;
  /** Ends the tags, where images for several platforms are built. */
  variant?: string;
  baked: boolean;
  labels: [string, string][];
}

export interface ImageOptions {
  namespace: string;
  device: Device;
  platform: Platform;
  baked: boolean;
  version: string;
  variant?: string;
  /** What the model takes, for the labels. */
  figures?: Figures | undefined;
}

/**
 * Decides name, labels and layers of a model image. Pure.
 * @throws BuilderError `refused` when the id gives no legal image name
 */
export function planModelImage(spec: ModelSpec, runtime: string, options: ImageOptions): BuildPlan {
  const { namespace, device, platform, baked, version, variant, figures } = options;
  return {
    spec,
    image: imageName(spec, namespace, variant),
    ...(variant === undefined ? {} : { variant }),
    runtime,
    device,
    platform,
    baked,
    labels: modelLabels({ spec, device, platform, baked, version, figures }),
  };
}

export interface ModelContext {
  /** Files of the build folder by path; the weights of a baked image are streamed in beside them. */
  files: Record<string, string>;
  /** Hex SHA-256 of all that the image depends on, also in its label `io.slipway.build`. */
  digest: string;
}

/** Renders the build folder of a model. Pure. */
export function renderModelContext(plan: BuildPlan, template: string): ModelContext {
  const modelJson = formatSpec(plan.spec);
  const dockerfile = (labels: [string, string][]) =>
    render(template, {
      baked: plan.baked,
      runtime: plan.runtime,
      modelId: plan.spec.id,
      labels: labelArguments(labels),
    });
  // Figures follow from the rest, as far as they are known where it is planned.
  const inputs = plan.labels.filter(([name]) => !isFigure(name));
  const digest = createHash('sha256').update(dockerfile(inputs)).update(modelJson).digest('hex');
  return {
    files: { Dockerfile: dockerfile([...plan.labels, [LABEL.build, digest]]), 'model.json': modelJson },
    digest,
  };
}
