import { defaultBodyBytes, DEFAULTS } from '../../runtime/core/limits.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { readsMedia } from '../../runtime/tasks/reads-media.js';
import { TASKS } from '../../runtime/tasks/registry.js';
import type { ByteBudget } from '../../runtime/wire/byte-budget.js';
import type { JsonBodyOptions } from '../../runtime/wire/json-body.js';

/** Limits of request bodies, as the operator has set them. */
export interface BodyRules {
  budget: ByteBudget;
  /** MAX_BODY_BYTES, for all models. When absent, the default of each model's server. */
  maxBytes?: number | undefined;
  /** MAX_BODY_VALUES. */
  maxValues?: number | undefined;
}

/** Options for reading a body for one of these tasks: the same limits as in the model servers. */
export function bodyFor(
  tasks: readonly TaskId[],
  { budget, maxBytes, maxValues }: BodyRules,
): JsonBodyOptions {
  return {
    budget,
    maxBytes: maxBytes ?? Math.max(...tasks.map(defaultBytesOf)),
    maxValues: maxValues ?? DEFAULTS.maxBodyValues,
    setting: 'MAX_BODY_BYTES',
  };
}

function defaultBytesOf(id: TaskId): number {
  return defaultBodyBytes(readsMedia(TASKS[id]));
}
