import { createHash } from 'node:crypto';
import type { Device, ModelSpec } from '../../runtime/core/spec.js';
import { openApiOf } from '../../runtime/openapi.js';

/** Image labels by which machines, `builder list` first, recognise what they see. */
export const LABEL = {
  /** On runtime images only: profile and device. */
  runtime: 'io.slipway.runtime',
  /** On model images only: the exact id. */
  model: 'io.slipway.model',
  revision: 'io.slipway.revision',
  commit: 'io.slipway.commit',
  task: 'io.slipway.task',
  engine: 'io.slipway.engine',
  profile: 'io.slipway.profile',
  dtype: 'io.slipway.dtype',
  device: 'io.slipway.device',
  license: 'io.slipway.license',
  /** `true` when the weights are in the image. */
  baked: 'io.slipway.baked',
  /** `true` on sealed images, and the hex SHA-256 of their manifest. */
  sealed: 'io.slipway.sealed',
  manifest: 'io.slipway.manifest',
  version: 'io.slipway.version',
  platform: 'io.slipway.platform',
  /** Hex SHA-256 of the document that the server gives at /openapi.json. */
  openapi: 'io.slipway.openapi',
  /** Digest of everything that a build of this image reads: equal digest, equal image. */
  build: 'io.slipway.build',
} as const;

export interface ModelLabels {
  spec: ModelSpec;
  device: Device;
  platform: string;
  baked: boolean;
  version: string;
}

/** Labels of a model image, sorted by name. */
export function modelLabels({ spec, device, platform, baked, version }: ModelLabels): [string, string][] {
  const license = spec.license ?? '';
  const labels: Record<string, string> = {
    [LABEL.model]: spec.id,
    [LABEL.revision]: spec.revision,
    [LABEL.commit]: spec.commit,
    [LABEL.task]: spec.task,
    [LABEL.engine]: spec.engine,
    [LABEL.profile]: spec.profile,
    [LABEL.dtype]: spec.dtype,
    [LABEL.device]: device,
    [LABEL.license]: license,
    [LABEL.baked]: String(baked),
    [LABEL.version]: version,
    [LABEL.platform]: platform,
    [LABEL.openapi]: createHash('sha256')
      .update(JSON.stringify(openApiOf(spec, version)))
      .digest('hex'),
    'org.opencontainers.image.title': spec.id,
    'org.opencontainers.image.revision': spec.commit,
    'org.opencontainers.image.licenses': license,
  };
  return Object.entries(labels)
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
