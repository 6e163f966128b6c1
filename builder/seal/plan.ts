import { createHash } from 'node:crypto';
import type { RepoFile } from '../../runtime/core/spec.js';
import { figureLabels, LABEL } from '../images/labels.js';
import type { BuildPlan, ModelContext } from '../images/model-plan.js';
import { shortCommit } from '../images/names.js';
import type { Figures } from '../plan/figures.js';

/** Increase it when the files of the sealing layer change, so that older sealed images are rebuilt. */
const SEALING = 3;

/** Planned result of sealing a baked model image. */
export interface SealPlan {
  /** `<repository>:sealed` first, then with the commit. */
  references: string[];
  /** Hex SHA-256 of all inputs of the sealed image, for its label `io.slipway.build`. */
  digest: string;
  /** Licence texts and model card to include. */
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

/** Labels of the sealed image in addition to those of the model image; without the label of the manifest's hash. */
export function sealLabels({ digest }: SealPlan, figures: Figures | undefined): [string, string][] {
  return [[LABEL.build, digest], [LABEL.sealed, 'true'], ...(figures ? figureLabels(figures) : [])];
}
