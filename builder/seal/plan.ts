import { createHash } from 'node:crypto';
import type { RepoFile } from '../../runtime/core/spec.js';
import { figureLabels, LABEL } from '../images/labels.js';
import type { BuildPlan, ModelContext } from '../images/model-plan.js';
import { shortCommit } from '../images/names.js';
import type { Figures } from '../plan/figures.js';

/** Goes up when sealing adds other files than before: older sealed images are then made anew. */
const SEALING = 3;

/** What sealing one baked model image will give, as data. */
export interface SealPlan {
  /** `<repository>:sealed` first, then with the commit. */
  references: string[];
  /** Hex SHA-256 of all that the sealed image depends on, its label `io.slipway.build`. */
  digest: string;
  /** Licence texts and model card that go into it. */
  notices: readonly RepoFile[];
}

export function planSeal(plan: BuildPlan, context: ModelContext, notices: readonly RepoFile[]): SealPlan {
  const variant = plan.variant === undefined ? '' : `-${plan.variant}`;
  const inputs = { sealing: SEALING, context: context.digest, notices };
  return {
    references: ['sealed', `sealed-${shortCommit(plan.spec.commit)}`].map(
      (tag) => `${plan.image.repository}:${tag}${variant}`,
    ),
    digest: createHash('sha256').update(JSON.stringify(inputs)).digest('hex'),
    notices,
  };
}

/** Labels of the sealed image beside those of the image that it seals, and beside that of its record. */
export function sealLabels({ digest }: SealPlan, figures: Figures | undefined): [string, string][] {
  return [[LABEL.build, digest], [LABEL.sealed, 'true'], ...(figures ? figureLabels(figures) : [])];
}
