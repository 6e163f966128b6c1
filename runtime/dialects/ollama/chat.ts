import * as z from 'zod';
import { CHAT_TASKS, mediaBlock, requireReadable } from '../chat/blocks.js';
import type { ChatRequest } from '../chat/request.js';
import { tool, toolParams } from '../chat/tools.js';
import type { DialectCall } from '../dialect.js';
import { dropNullish } from '../fields.js';
import type { ServedModel } from '../host.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';
import { formatOf, messageField, optionParams, sharedFields, thinkingOf } from './body.js';
import { modelName } from './names.js';
import { sendAnswer } from './send.js';

export const chatBody = z.strictObject({
  ...sharedFields,
  messages: z.array(messageField).nullish(),
  tools: z.array(tool).nullish(),
});

/** POST api/chat. */
export async function chat(call: DialectCall): Promise<void> {
  const arrived = performance.now();
  const given = await readRequest(call, chatBody, { tasks: CHAT_TASKS, pythonNumbers: true });
  const model = requireModel(call.host, modelName(given.model), CHAT_TASKS);
  const asking: ChatRequest = {
    model,
    messages: (given.messages ?? []).map((message, i) => messageOf(model, message, `messages.${i}`)),
    params: {
      ...optionParams(given.options ?? {}),
      ...formatOf(given.format),
      ...thinkingOf(given.think),
      ...toolParams(given),
      continue_final_message: false,
    },
    names: { max_new_tokens: 'options.num_predict' },
  };
  await sendAnswer(call, asking, { arrived, kind: 'chat', stream: given.stream ?? true });
}

/** A message as tasks have it; images stand beside the text. */
export function messageOf(
  model: ServedModel,
  message: z.output<typeof messageField>,
  path: string,
): Record<string, unknown> {
  const { role, content, thinking, images, tool_calls, tool_name, ...rest } = message;
  const blocks = (images ?? []).map((image, i) =>
    requireReadable(model, mediaBlock('image', image), `${path}.images.${i}`),
  );
  const calls = tool_calls?.map(({ function: { name, arguments: args }, id }) => ({
    ...dropNullish({ id }),
    ...{ type: 'function', function: { name, arguments: args ?? {} } },
  }));
  const text = content ?? '';
  return {
    role,
    content: blocks.length === 0 ? text : [...blocks, { type: 'text', text }],
    ...(calls && calls.length > 0 ? { tool_calls: calls } : {}),
    ...dropNullish({ reasoning_content: thinking, name: tool_name, ...rest }),
  };
}
