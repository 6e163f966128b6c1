import { finished, type Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { paramNames } from '../../runtime/tasks/param-names.js';
import { TASKS } from '../../runtime/tasks/registry.js';
import { RunError } from '../../runtime/core/errors.js';
import { parseNumbers, stringifyNumbers } from '../../runtime/wire/python-numbers.js';
import type { ContainerClient } from '../upstream/upstream.js';
import { malformed } from './faults.js';
import { lengthOf } from './params.js';
import type { Provider, ProviderAnswer } from './provider.js';
import { readText } from './read-json.js';

/**
 * Passes calls on to another gateway, whose answers are those of containers.
 * @param opened is told each connection that an answer comes over, for the end of the call
 */
export function passingClient(
  provider: Provider,
  task: TaskId,
  opened: (body: Readable) => void,
): ContainerClient {
  const { modelId, remote } = provider;
  return {
    async run({ body, headers, signal }) {
      const sent = limited(provider, task, body);
      const answer = await provider.ask({ path: `/models/v2/${remote.model}`, body: sent, headers }, signal);
      opened(answer.body);
      follow(answer);
      if (!TYPES.test(answer.headers['content-type'] ?? '')) {
        answer.body.destroy();
        throw malformed(modelId, 'answers with something else than a gateway does');
      }
      const { statusCode, headers: given } = answer;
      const whole = answer.body as Dispatcher.ResponseData['body'];
      const text = () => readText(whole, modelId);
      return { statusCode, headers: given, body: Object.assign(whole, { text }) };
    },
  };
}

/** What containers answer with. */
const TYPES = /^(?:application\/json|text\/plain|text\/event-stream|(?:image|audio|video)\/)/i;

/** Ends the attempt with the answer. */
function follow({ body, attempt }: ProviderAnswer): void {
  attempt.answers();
  finished(body, { writable: false }, (error) => (error ? attempt.failed() : attempt.succeeded()));
}

/**
 * The body as it came, unless the catalogue limits what may be asked.
 * @throws RunError 400 that names what may not
 */
function limited({ modelId, remote }: Provider, task: TaskId, body: Buffer | string): Buffer | string {
  const { parameters, limits } = remote;
  const definition = TASKS[task];
  const hasLength = limits.maxTokens !== undefined && paramNames(definition).has('max_new_tokens');
  if (parameters === undefined && !hasLength) return body;
  const json = parseNumbers(body.toString()) as { params?: Record<string, unknown> | null };
  const params = Object.fromEntries(Object.entries(json.params ?? {}).filter(([, value]) => value != null));
  const stranger = parameters && Object.keys(params).find((name) => !parameters.includes(name));
  if (stranger !== undefined)
    throw new RunError('invalid_input', `params.${stranger}: can't be given to ${modelId}; leave it out`);
  if (!hasLength) return body;
  return stringifyNumbers({
    ...json,
    params: { ...params, max_new_tokens: lengthOf({ modelId, remote, params }) },
  });
}
