import { defaultBodyBytes, DEFAULTS } from '../../runtime/core/limits.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { isPlanned } from '../../runtime/tasks/define.js';
import { TASKS } from '../../runtime/tasks/registry.js';
import type { ByteBudget } from '../../runtime/wire/byte-budget.js';
import type { JsonBodyOptions } from '../../runtime/wire/json-body.js';

/** What the operator says of request bodies. */
export interface BodyRules {
  budget: ByteBudget;
  /** MAX_BODY_BYTES, for all models; none: what each model's own server takes unless it is told otherwise. */
  maxBytes?: number | undefined;
  /** MAX_BODY_VALUES. */
  maxValues?: number | undefined;
}

/** How a body for one of these tasks is read: as their servers read it, which would refuse more. */
export function bodyFor(
  tasks: readonly TaskId[],
  { budget, maxBytes, maxValues }: BodyRules,
): JsonBodyOptions {
  return {
    budget,
    maxBytes: maxBytes ?? Math.max(...tasks.map(bytesOf)),
    maxValues: maxValues ?? DEFAULTS.maxBodyValues,
    setting: 'MAX_BODY_BYTES',
  };
}

function bytesOf(id: TaskId): number {
  const task = TASKS[id];
  return defaultBodyBytes(isPlanned(task) ? 'text' : task.profile);
}
