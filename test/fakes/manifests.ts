import { LABEL } from '../../builder/images/labels.js';
import { fakeDocker } from './docker.js';
import { renderManifest } from '../../builder/manifest/render.js';
import { type Format, type ManifestFlags, manifestSettings } from '../../builder/manifest/settings.js';
import { readManifestSubject } from '../../builder/manifest/subject.js';

/** Labels of an image as `builder build` gives them. */
export const LABELS: Record<string, string> = {
  [LABEL.model]: 'Org/Model-1.5_x',
  [LABEL.task]: 'text-classification',
  [LABEL.engine]: 'transformers',
  [LABEL.profile]: 'text',
  [LABEL.device]: 'cpu',
  [LABEL.baked]: 'true',
  [LABEL.commit]: '0123456789abcdef0123456789abcdef01234567',
  [LABEL.parameters]: '66955010',
  [LABEL.memory]: '700000000',
  [LABEL.load]: '30.5',
  [LABEL.figures]: 'measured',
};

export const DEFAULT_FLAGS = { replicas: 1, secret: 'slipway', env: {} };

/** The manifest of an image with these labels. */
export async function manifestOf(
  format: Format,
  flags: Partial<ManifestFlags> = {},
  labels: Record<string, string> = LABELS,
) {
  const docker = fakeDocker();
  const about = { id: 'sha256:1', references: [], size: 1, created: 0, platform: 'linux/amd64' };
  const nothing = { layers: [], env: [], entrypoint: [], command: [], settings: {} };
  docker.images.set('slipway/org_model:latest', { ...about, ...nothing, labels });
  const subject = await readManifestSubject('slipway/org_model:latest', docker);
  return renderManifest(format, manifestSettings(subject, { ...DEFAULT_FLAGS, ...flags, format }));
}
