import * as z from 'zod';
import { RunError } from '../../core/errors.js';
import { VERSION } from '../../version.js';
import { sendJson } from '../../wire/respond.js';
import { CHAT_TASKS } from '../chat/blocks.js';
import type { DialectCall } from '../dialect.js';
import { EMBEDDING_TASKS } from '../embed.js';
import type { DialectHost, ServedModel } from '../host.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';
import { modelName, taggedName } from './names.js';

/** Tasks that Ollama has routes for. */
const SERVED: ReadonlySet<string> = new Set([...CHAT_TASKS, 'text-generation', ...EMBEDDING_TASKS]);

/** What is not known here, such as sizes in bytes, has the value that clients read as unknown. */
const listed = ({ modelId }: ServedModel) => ({
  ...{ name: taggedName(modelId), model: taggedName(modelId) },
  ...{ modified_at: new Date(0).toISOString(), size: 0, digest: '' },
  details: {
    parent_model: '',
    format: '',
    family: '',
    families: [],
    parameter_size: '',
    quantization_level: '',
  },
});

const servedBy = (host: DialectHost) => host.models().filter(({ task }) => SERVED.has(task));

/** GET api/tags. */
export function tags({ response, host }: DialectCall): void {
  sendJson(response, 200, JSON.stringify({ models: servedBy(host).map(listed) }));
}

/** GET api/ps: all models are said to be loaded, as they answer when they are asked. */
export function loaded({ response, host }: DialectCall): void {
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const models = servedBy(host).map((model) => ({ ...listed(model), expires_at, size_vram: 0 }));
  sendJson(response, 200, JSON.stringify({ models }));
}

/** GET api/version. Clients compare three numbers, and want one that knows tools. */
export function version({ response }: DialectCall): void {
  sendJson(response, 200, JSON.stringify({ version: '0.12.0', slipway: VERSION }));
}

export const nameBody = z.looseObject({ model: z.string().nullish(), name: z.string().nullish() });

async function namedModel(call: DialectCall): Promise<ServedModel> {
  const { model, name } = await readRequest(call, nameBody, { tasks: ['text-generation'] });
  return requireModel(call.host, modelName(model ?? name));
}

/** POST api/show. */
export async function show(call: DialectCall): Promise<void> {
  const { modelId, task } = await namedModel(call);
  const body = {
    ...{ modelfile: '', parameters: '', template: '', license: '' },
    details: listed({ modelId, task }).details,
    model_info: { 'general.architecture': 'slipway', 'general.basename': modelId },
    capabilities: capabilitiesOf(task),
    modified_at: new Date(0).toISOString(),
  };
  sendJson(call.response, 200, JSON.stringify(body));
}

function capabilitiesOf(task: ServedModel['task']): string[] {
  if ((EMBEDDING_TASKS as readonly string[]).includes(task)) return ['embedding'];
  if (task === 'text-generation') return ['completion'];
  if (!(CHAT_TASKS as readonly string[]).includes(task)) return [];
  return ['completion', 'tools', ...(task === 'image-text-to-text' ? ['vision'] : [])];
}

/** POST api/pull: of a model that is here, nothing is to be done. @throws RunError 404 of another */
export async function pull(call: DialectCall): Promise<void> {
  await namedModel(call);
  sendJson(call.response, 200, JSON.stringify({ status: 'success' }));
}

/** Routes that change what models there are. */
export function refuseChange(): never {
  throw new RunError('invalid_input', 'models are added and removed by the operator, not over HTTP');
}
