import { readBody } from '../../runtime/tasks/body.js';
import { TASKS } from '../../runtime/tasks/registry.js';
import type { Catalog, ModelEntry } from '../catalog/entry.js';
import type { BodyRules } from './body.js';
import type { ModelParts } from './with-model.js';

/** What calls to models need. */
export interface RunParts extends ModelParts {
  catalog: Catalog;
  body: BodyRules;
}

/** @throws RunError for a body that the task does not accept; called before any model is started */
export function checkRequest({ task: id }: ModelEntry, json: unknown): void {
  const task = TASKS[id];
  readBody(id, task, json);
}
