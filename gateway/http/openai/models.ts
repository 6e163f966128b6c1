import type { RequestHandler } from 'express';
import { RunError } from '../../../runtime/core/errors.js';
import { isModelId } from '../../../runtime/core/ids.js';
import type { TaskId } from '../../../runtime/core/task-ids.js';
import { sendJson } from '../../../runtime/wire/respond.js';
import type { Catalog, ModelEntry } from '../../catalog/entry.js';

/** OpenAI's endpoints, and the tasks that each of them serves. */
export const ENDPOINTS = {
  '/chat/completions': ['chat', 'image-text-to-text', 'audio-text-to-text', 'video-text-to-text'],
  '/completions': ['text-generation', 'text2text-generation', 'summarization', 'translation'],
  '/embeddings': ['sentence-similarity', 'feature-extraction'],
} as const satisfies Record<string, readonly TaskId[]>;

export type Endpoint = keyof typeof ENDPOINTS;

const endpointOf = (task: TaskId): Endpoint | undefined =>
  (Object.keys(ENDPOINTS) as Endpoint[]).find((path) =>
    (ENDPOINTS[path] as readonly TaskId[]).includes(task),
  );

/**
 * Finds the model that a request names.
 * @throws RunError 404 for an unknown model, 400 that names the right endpoint
 */
export function findModel(endpoint: Endpoint, name: string, catalog: Catalog): ModelEntry {
  const entry = isModelId(name) ? catalog.find(name) : undefined;
  if (!entry) throw new RunError('not_found', 'model: there is no such model; GET models names them');
  const { modelId, task } = entry;
  const correct = endpointOf(task);
  if (correct !== endpoint) {
    const path = correct === undefined ? `/models/v2/${modelId}` : `/models/v2/openai/v1${correct}`;
    throw new RunError('invalid_input', `model: ${modelId} does ${task}; ask POST ${path}`);
  }
  return entry;
}

/** GET models: the models that one of the endpoints serves. */
export function listOpenAiModels(catalog: Catalog): RequestHandler {
  return (_request, response) => {
    const data = catalog.list().flatMap((entry) => modelOf(entry) ?? []);
    sendJson(response, 200, JSON.stringify({ object: 'list', data }));
  };
}

/** GET models/{id}. Some clients encode the slash of the id, others do not. */
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

/** `created` is 0 because it is not known. */
function modelOf({ modelId, task }: ModelEntry): object | undefined {
  if (endpointOf(task) === undefined) return undefined;
  return { id: modelId, object: 'model', created: 0, owned_by: modelId.split('/')[0] };
}
