import { RunError } from '../../core/errors.js';
import { MEDIA_CHATS, type TaskId } from '../../core/task-ids.js';
import { sendJson } from '../../wire/respond.js';
import type { DialectCall } from '../dialect.js';
import type { DialectHost, ServedModel } from '../host.js';

/** Tasks of texts alone that complete a prompt. */
const WRITERS = ['text-generation', 'chat', 'text2text-generation', 'summarization', 'translation'] as const;

/** OpenAI's endpoints, and the tasks that each of them serves. */
export const ENDPOINTS = {
  '/chat/completions': ['chat', ...MEDIA_CHATS],
  '/completions': [...WRITERS, ...MEDIA_CHATS],
  '/embeddings': ['sentence-similarity', 'feature-extraction'],
  '/audio/transcriptions': ['automatic-speech-recognition'],
  '/audio/speech': ['text-to-speech', 'text-to-audio'],
  '/images/generations': ['text-to-image'],
  '/moderations': ['text-classification'],
} as const satisfies Record<string, readonly TaskId[]>;

export type Endpoint = keyof typeof ENDPOINTS;

/** Tasks whose bodies are as large as those of an endpoint may be: the prompt of a completion is a text, whatever else its model reads. */
export const bodyTasks = (endpoint: Endpoint): readonly TaskId[] =>
  endpoint === '/completions' ? WRITERS : ENDPOINTS[endpoint];

const endpointsOf = (task: TaskId): Endpoint[] =>
  (Object.keys(ENDPOINTS) as Endpoint[]).filter((path) =>
    (ENDPOINTS[path] as readonly TaskId[]).includes(task),
  );

/**
 * Finds the model that a request names.
 * @throws RunError 404 for an unknown model, 400 that names the right endpoint
 */
export function findModel(endpoint: Endpoint, name: string | undefined, host: DialectHost): ServedModel {
  const model = host.find(name);
  if (!model && name === undefined) throw new RunError('invalid_input', 'model: is required');
  if (!model) throw new RunError('not_found', 'model: there is no such model; GET models names them');
  const right = endpointsOf(model.task);
  if (!right.includes(endpoint)) {
    const path = right.length === 0 ? host.runPath(model) : `${host.base}/v1${right[0]}`;
    throw new RunError('invalid_input', `model: ${model.modelId} does ${model.task}; ask POST ${path}`);
  }
  return model;
}

/** GET models: the models that one of the endpoints serves. */
export function listModels({ response, host }: DialectCall): void {
  const data = host.models().flatMap((model) => modelOf(model) ?? []);
  sendJson(response, 200, JSON.stringify({ object: 'list', data }));
}

/** GET models/{id}. Some clients encode the slash of the id, others do not. */
export function showModel({ request, response, host }: DialectCall): void {
  const id = [request.params['id'] ?? []].flat().join('/');
  const model = host.models().find(({ modelId }) => modelId === id);
  const shown = model && modelOf(model);
  if (!shown) throw new RunError('not_found', 'model: there is no such model; GET models names them');
  sendJson(response, 200, JSON.stringify(shown));
}

/** `created` is 0 because it is not known. */
function modelOf({ modelId, task }: ServedModel): object | undefined {
  if (endpointsOf(task).length === 0) return undefined;
  return { id: modelId, object: 'model', created: 0, owned_by: modelId.split('/')[0] };
}
