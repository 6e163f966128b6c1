import { RunError } from '../../core/errors.js';
import { sendJson } from '../../wire/respond.js';
import { CHAT_TASKS, mediaBlock, requireReadable } from '../chat/blocks.js';
import type { DialectCall } from '../dialect.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';
import { formatOf, generateBody, optionParams, thinkingOf } from './body.js';
import { modelName, taggedName } from './names.js';
import { sendAnswer } from './send.js';
import { sendCompletion } from './send-completion.js';

export const GENERATE_TASKS = [...CHAT_TASKS, 'text-generation'] as const;

/** POST api/generate: one message to a chat model, or a text that another one continues. */
export async function generate(call: DialectCall): Promise<void> {
  const arrived = performance.now();
  const given = await readRequest(call, generateBody, { tasks: GENERATE_TASKS });
  const model = requireModel(call.host, modelName(given.model), GENERATE_TASKS);
  const { prompt, system, images, raw } = given;
  if (!prompt && !images?.length) return sendLoaded(call, model.modelId);
  const params = { ...optionParams(given.options ?? {}), ...formatOf(given.format) };
  const sending = { arrived, kind: 'generate', stream: given.stream ?? true } as const;
  if (model.task === 'text-generation') {
    if (system) throw new RunError('invalid_input', `system: ${model.modelId} has no chat template`);
    return sendCompletion(call, { model, text: prompt ?? '', params }, sending);
  }
  if (raw)
    throw new RunError('invalid_input', `raw: ${model.modelId} answers conversations; ask without raw`);
  const blocks = (images ?? []).map((image, i) =>
    requireReadable(model, mediaBlock('image', image), `images.${i}`),
  );
  const text = prompt ?? '';
  const content = blocks.length === 0 ? text : [...blocks, { type: 'text', text }];
  const messages = [...(system ? [{ role: 'system', content: system }] : []), { role: 'user', content }];
  const names = { max_new_tokens: 'options.num_predict' };
  await sendAnswer(
    call,
    { model, messages, params: { ...params, ...thinkingOf(given.think) }, names },
    sending,
  );
}

/** A request without a prompt asks Ollama to load the model, which is done here. */
function sendLoaded({ response }: DialectCall, modelId: string): void {
  const created_at = new Date().toISOString();
  const body = { model: taggedName(modelId), created_at, response: '', done: true, done_reason: 'load' };
  sendJson(response, 200, JSON.stringify(body));
}
