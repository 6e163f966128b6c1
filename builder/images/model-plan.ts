import { createHash } from 'node:crypto';
import type { Device, ModelSpec } from '../../runtime/core/spec.js';
import { formatSpec } from '../../runtime/store/spec-file.js';
import type { Figures } from '../plan/figures.js';
import { isFigure, LABEL, modelLabels } from './labels.js';
import { imageName, type ImageName } from './names.js';
import type { Platform } from './platform.js';
import { labelArguments, render } from './render.js';

/** What a build will do; `--dry-run` prints it. */
export interface BuildPlan {
  spec: ModelSpec;
  image: ImageName;
  /** Reference of its runtime image. */
  runtime: string;
  device: Device;
  platform: Platform;
  /** Suffix of the tags when several platforms are built. */
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
  /** Figures for the labels. */
  figures?: Figures | undefined;
  /** The format of its calls of tools. */
  tools?: string | undefined;
}

/**
 * Decides name, labels and layers of a model image. Pure.
 * @throws BuilderError `refused` when the id gives no legal image name
 */
export function planModelImage(spec: ModelSpec, runtime: string, options: ImageOptions): BuildPlan {
  const { namespace, device, platform, baked, version, variant, figures, tools } = options;
  return {
    spec,
    image: imageName(spec, namespace, variant),
    ...(variant === undefined ? {} : { variant }),
    runtime,
    device,
    platform,
    baked,
    labels: modelLabels({ spec, device, platform, baked, version, figures, tools }),
  };
}

export interface ModelContext {
  /** Files of the build folder by path; baked weights are streamed in addition. */
  files: Record<string, string>;
  /** Hex SHA-256 of all inputs of the image, also in its label `io.slipway.build`. */
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
  // Figures follow from the other inputs, and may not be known when planning.
  const inputs = plan.labels.filter(([name]) => !isFigure(name));
  const digest = createHash('sha256').update(dockerfile(inputs)).update(modelJson).digest('hex');
  return {
    files: { Dockerfile: dockerfile([...plan.labels, [LABEL.build, digest]]), 'model.json': modelJson },
    digest,
  };
}
