import type { RequestHandler } from 'express';
import { RunError } from '../../../runtime/core/errors.js';
import { isModelId } from '../../../runtime/core/ids.js';
import type { TaskId } from '../../../runtime/core/task-ids.js';
import { isPlanned } from '../../../runtime/tasks/define.js';
import { TASKS } from '../../../runtime/tasks/registry.js';
import { sendJson } from '../../../runtime/wire/respond.js';
import type { Catalog, ModelEntry } from '../../catalog/entry.js';

/** The endpoints of the dialect, and the tasks of the models that each of them asks. */
export const ENDPOINTS = {
  '/chat/completions': ['chat', 'image-text-to-text'],
  '/completions': ['text-generation', 'text2text-generation', 'summarization', 'translation'],
  '/embeddings': ['sentence-similarity', 'feature-extraction'],
} as const satisfies Record<string, readonly TaskId[]>;

export type Endpoint = keyof typeof ENDPOINTS;

const endpointOf = (task: TaskId): Endpoint | undefined =>
  (Object.keys(ENDPOINTS) as Endpoint[]).find((path) =>
    (ENDPOINTS[path] as readonly TaskId[]).includes(task),
  );

/**
 * The model that a request names.
 * @throws RunError 404 for one that isn't there, 400 that names the right endpoint, 503 for a task of later versions
 */
export function findModel(endpoint: Endpoint, name: string, catalog: Catalog): ModelEntry {
  const entry = isModelId(name) ? catalog.find(name) : undefined;
  if (!entry) throw new RunError('not_found', 'model: there is no such model; GET models names them');
  const { modelId, task } = entry;
  const right = endpointOf(task);
  if (right !== endpoint) {
    const where = right === undefined ? `/models/v2/${modelId}` : `/models/v2/openai/v1${right}`;
    throw new RunError('invalid_input', `model: ${modelId} does ${task}; ask POST ${where}`);
  }
  if (isPlanned(TASKS[task])) throw new RunError('not_ready', `${task} is not served by this version`);
  return entry;
}

/** GET models: those that an endpoint of the dialect asks. */
export function listOpenAiModels(catalog: Catalog): RequestHandler {
  return (_request, response) => {
    const data = catalog.list().flatMap((entry) => modelOf(entry) ?? []);
    sendJson(response, 200, JSON.stringify({ object: 'list', data }));
  };
}

/** GET models/{id}. The id's slash comes as it is or encoded, as clients differ. */
export function showModel(catalog: Catalog): RequestHandler {
  return ({ originalUrl, baseUrl }, response) => {
    const id = originalUrl
      .split('?')[0]!
      .slice(baseUrl.length + 1)
      .replace(/%2f/i, '/');
    const entry = isModelId(id) ? catalog.find(id) : undefined;
    const model = entry && modelOf(entry);
    if (!model) throw new RunError('not_found', 'model: there is no such model; GET models names them');
    sendJson(response, 200, JSON.stringify(model));
  };
}

/** `created` is not known of any model. */
function modelOf({ modelId, task }: ModelEntry): object | undefined {
  if (endpointOf(task) === undefined) return undefined;
  return { id: modelId, object: 'model', created: 0, owned_by: modelId.split('/')[0] };
}
