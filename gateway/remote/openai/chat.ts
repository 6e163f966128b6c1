import * as z from 'zod';
import { RunError } from '../../../runtime/core/errors.js';
import type { Said } from '../../../runtime/tasks/generated.js';
import type { RemoteCall, Translate } from '../kind.js';
import { imageOf } from '../media.js';
import { assistant, saidOf } from '../said.js';
import { type Block, continues, type Message, messagesOf } from '../messages.js';
import { readChoices } from './choices.js';
import { chatPieces } from './chat-stream.js';
import { logprobsField } from './logprobs.js';
import { chatFields, textFields } from './params.js';
import { finishOf, usageField, usageOf } from './usage.js';

/** Asks chat/completions. */
export const translateChat: Translate = async (call) => {
  const { remote, modelId } = call;
  const goesOn = continues(call);
  if (goesOn && !remote.parameters?.includes('continue_final_message'))
    throw new RunError(
      'invalid_input',
      `params.continue_final_message: ${modelId} can't go on with the assistant's last message; end with another, or set it to false`,
    );
  const messages = await Promise.all(messagesOf(call).map(asOpenAi));
  const continuing = goesOn ? { continue_final_message: true, add_generation_prompt: false } : {};
  return {
    path: '/chat/completions',
    body: { messages, ...textFields(call), ...chatFields(call), ...continuing },
    read: call.stream ? undefined : (json) => readAnswer(call, json),
    stream: {
      pieces: (events) => chatPieces(modelId, events),
      output: (whole) => assistant(call, [saidOf(whole)]),
    },
  };
};

async function asOpenAi({ role, content, calls, callId, reasoning, name, path }: Message): Promise<object> {
  const tool_calls = calls.map(({ id, name, arguments: text }) => ({
    ...{ id, type: 'function' },
    function: { name, arguments: text },
  }));
  return {
    role,
    content: Array.isArray(content)
      ? await Promise.all(content.map((block, i) => partOf(block, `${path}.content.${i}`)))
      : content,
    ...(tool_calls.length > 0 ? { tool_calls } : {}),
    ...(callId === undefined ? {} : { tool_call_id: callId }),
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(name === undefined || role === 'tool' ? {} : { name }),
  };
}

async function partOf(block: Block, path: string): Promise<object> {
  if (block.type === 'text') return { type: 'text', text: block.text };
  const image = await imageOf(block, path);
  const url = 'url' in image ? image.url : `data:${image.mediaType};base64,${image.base64}`;
  return { type: 'image_url', image_url: { url } };
}

const message = z.object({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
  tool_calls: z
    .array(
      z.object({ id: z.string().nullish(), function: z.object({ name: z.string(), arguments: z.string() }) }),
    )
    .nullish(),
});

const answer = z.object({
  choices: z
    .array(z.object({ message, finish_reason: z.string().nullish(), logprobs: logprobsField.nullish() }))
    .min(1),
  usage: usageField,
});

function readAnswer(call: RemoteCall, json: unknown) {
  const { modelId } = call;
  const { choices, usage } = readChoices(call, answer, json);
  const finish = choices.map((one) => finishOf(modelId, one.finish_reason, one.message.tool_calls?.length));
  return { output: assistant(call, choices.map(saidIn)), usage: usageOf(usage, finish) };
}

function saidIn({ message, logprobs }: z.output<typeof answer>['choices'][number]): Said {
  const { content, refusal, reasoning_content, reasoning, tool_calls } = message;
  const thought = reasoning_content ?? reasoning ?? '';
  return {
    text: content ?? refusal ?? '',
    reasoning: thought === '' ? undefined : thought,
    toolCalls:
      tool_calls && tool_calls.length > 0
        ? tool_calls.map(({ id, function: made }, i) => ({
            id: id ?? `call_${i}`,
            type: 'function',
            function: made,
          }))
        : undefined,
    logprobs: logprobs ?? undefined,
  };
}
