import * as z from 'zod';
import type { Delta } from '../../core/delta.js';
import { RunError } from '../../core/errors.js';
import { type ChatAnswer, chatAnswers } from '../chat/answer.js';
import { type Block, mediaBlock, requireReadable } from '../chat/blocks.js';
import { FORMAT_NAMES, formatFields, formatParams } from '../chat/format.js';
import { tool, toolChoice, toolParams } from '../chat/tools.js';
import {
  dropNullish,
  generationOf,
  hint,
  ignoredFields,
  modelField,
  neutral,
  readFields,
  samplingFields,
  unsupportedField,
} from '../fields.js';
import type { DialectHost, ServedModel } from '../host.js';
import { byTokenId } from './completion-logprobs.js';
import { findModel } from './models.js';
import type { TextRequest, TextShape } from './text-answers.js';

const address = z.string().min(1).describe('http(s) address or data URL');

/** An address alone, or in an object. */
const addressed = z.union([z.object({ url: address, detail: hint('changes nothing') }), address]);

const part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('refusal'), refusal: z.string() }),
  z.object({ type: z.literal('image_url'), image_url: addressed }),
  z.object({
    type: z.literal('input_audio'),
    input_audio: z.object({
      data: z.string().min(1).describe('the file in Base64'),
      format: z.string().optional().describe('is found out by itself'),
    }),
  }),
  z.object({ type: z.literal('audio_url'), audio_url: addressed }),
  z.object({ type: z.literal('video_url'), video_url: addressed }),
]);

type Part = z.output<typeof part>;

const call = z.looseObject({
  id: z.string().nullish(),
  type: z.literal('function').nullish(),
  function: z.object({
    name: z.string(),
    arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
  }),
});

/** Other keys are passed on to the model's chat template unchanged. */
const message = z.looseObject({
  role: z.enum(['developer', 'system', 'user', 'assistant', 'tool', 'function']),
  content: z.union([z.string(), z.array(part)]).nullish(),
  tool_calls: z.array(call).nullish(),
  function_call: unsupportedField('send tool_calls'),
  reasoning: z.string().nullish().describe('another name of reasoning_content'),
  audio: unsupportedField('answers are text'),
  refusal: unsupportedField('models here answer in the content'),
  annotations: neutral([[]], 'models here search nothing'),
});

/** POST chat/completions. */
export const chatBody = z.strictObject({
  model: modelField,
  messages: z.array(message).min(1),
  ...samplingFields,
  max_completion_tokens: z.int().min(-1).nullish().describe('the same as max_tokens'),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  prompt_logprobs: z.int().min(0).max(20).nullish().describe('not OpenAI’s: as vLLM has it, not in streams'),
  ...formatFields,
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
  documents: z.array(z.record(z.string(), z.unknown())).nullish(),
  reasoning_effort: z.string().nullish().describe('how much the model thinks, where its template knows that'),
  modalities: z.array(z.literal('text', { error: 'can only be text' })).nullish(),
  ...ignoredFields,
  verbosity: hint(),
  prediction: hint(),
  truncation: neutral(['disabled'], 'prompts are not cut'),
  echo: neutral([false], 'answers do not repeat the conversation'),
  add_generation_prompt: neutral([true], 'the model answers the last message'),
  continue_final_message: neutral([false], 'the model answers the last message'),
  add_special_tokens: neutral([false], 'the chat template holds what is special'),
  mm_processor_kwargs: neutral([{}], 'media are read as the repository says'),
  best_of: neutral([1], 'ask for n answers'),
  functions: neutral([[]], 'send tools'),
  function_call: neutral(['auto', 'none'], 'send tools and tool_choice'),
  audio: unsupportedField('answers are text'),
  web_search_options: unsupportedField('models here search nothing'),
});

type ChatBody = z.output<typeof chatBody>;

/** @throws RunError that names the field */
export function readChat(json: unknown, host: DialectHost): TextRequest<ChatAnswer> {
  const given = readFields(chatBody, json);
  const model = findModel('/chat/completions', given.model ?? undefined, host);
  const messages = given.messages.map((message, i) => messageOf(model, message, `messages.${i}`));
  const { chat_template_kwargs, documents, reasoning_effort, prompt_logprobs } = given;
  if (given.stream && prompt_logprobs != null)
    throw new RunError('invalid_input', 'prompt_logprobs: a stream has none; ask without stream');
  const params = {
    ...generationOf({ ...given, prompt_logprobs: null, max_tokens: lengthOf(given) }),
    ...dropNullish({ prompt_logprobs }),
    ...(given.logprobs ? { logprobs: given.top_logprobs ?? 0 } : {}),
    ...formatParams(given),
    ...toolParams(given),
    ...dropNullish({ chat_template_kwargs, documents, reasoning_effort }),
    parse_response: true,
    // OpenAI's interface never continues a final assistant message; the model answers it.
    continue_final_message: false,
  };
  return {
    model,
    bodies: [{ messages, params }],
    names: {
      num_return_sequences: 'n',
      max_new_tokens: given.max_completion_tokens == null ? 'max_tokens' : 'max_completion_tokens',
      min_new_tokens: 'min_tokens',
      ...FORMAT_NAMES,
    },
    echoes: [''],
    stream: given.stream ?? false,
    includeUsage: given.stream_options?.include_usage ?? false,
    shape: prompt_logprobs == null ? shape : { ...shape, beside: promptOf },
  };
}

function lengthOf({
  max_tokens,
  max_completion_tokens,
  logprobs,
  top_logprobs,
}: ChatBody): number | undefined {
  if (top_logprobs != null && !logprobs) throw new RunError('invalid_input', 'top_logprobs: needs logprobs');
  if (max_tokens != null && max_completion_tokens != null && max_tokens !== max_completion_tokens)
    throw new RunError(
      'invalid_input',
      'max_completion_tokens: contradicts max_tokens, which is its old name',
    );
  return max_completion_tokens ?? max_tokens ?? undefined;
}

/** OpenAI's role `developer` is called `system` in chat templates, and `function` is `tool`. */
function messageOf(
  model: ServedModel,
  { role, content, tool_calls, reasoning, annotations: _none, ...rest }: ChatBody['messages'][number],
  path: string,
): Record<string, unknown> {
  const roles: Record<string, string> = { developer: 'system', function: 'tool' };
  const blocks = Array.isArray(content)
    ? content.map((one, i) => requireReadable(model, blockOf(one), `${path}.content.${i}`))
    : content;
  const calls = tool_calls?.map((one) => ({ ...one, type: 'function' }));
  return {
    role: roles[role] ?? role,
    content: blocks?.length === 0 ? '' : blocks,
    ...(calls && calls.length > 0 ? { tool_calls: calls } : {}),
    ...dropNullish({ reasoning_content: reasoning, ...rest }),
  };
}

/** Converts a part of a message to the content block that tasks use. */
export function blockOf(part: Part): Block {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'refusal':
      return { type: 'text', text: part.refusal };
    case 'input_audio':
      return { type: 'audio', base64: part.input_audio.data };
    case 'image_url':
      return mediaBlock('image', addressOf(part.image_url));
    case 'audio_url':
      return mediaBlock('audio', addressOf(part.audio_url));
    case 'video_url':
      return mediaBlock('video', addressOf(part.video_url));
    default:
      throw new RunError('invalid_input', 'messages: an unknown kind of part');
  }
}

const addressOf = (given: z.output<typeof addressed>): string =>
  typeof given === 'string' ? given : given.url;

const withRefusal = (fields: object) => ({ ...fields, refusal: null });

const toolCallsOf = ({ calls }: ChatAnswer) => (calls.length === 0 ? {} : { tool_calls: calls });

const shape: TextShape<ChatAnswer> = {
  prefix: 'chatcmpl',
  object: 'chat.completion',
  chunk: 'chat.completion.chunk',
  read: chatAnswers,
  choice(answer) {
    const { content, reasoning, logprobs, calls } = answer;
    return {
      message: withRefusal({
        role: 'assistant',
        content: content === '' && calls.length > 0 ? null : content,
        ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
        ...toolCallsOf(answer),
      }),
      logprobs: logprobs ? withRefusal({ content: logprobs }) : null,
      finish_reason: answer.finish,
    };
  },
  begin: () => delta(withRefusal({ role: 'assistant', content: '' })),
  piece: (piece) => delta(deltaOf(piece)),
  *chunks(answer) {
    const { content, reasoning, logprobs, calls } = answer;
    if (reasoning !== '') yield delta({ reasoning_content: reasoning });
    yield { ...delta({ content }), logprobs: logprobs ? withRefusal({ content: logprobs }) : null };
    if (calls.length > 0) yield delta({ tool_calls: calls.map((one, index) => ({ index, ...one })) });
  },
  end: (finish) => ({ ...delta({}), finish_reason: finish }),
};

/** Of several answers all have the same prompt. */
const promptOf = ([first]: readonly ChatAnswer[]) => ({
  prompt_logprobs: byTokenId(first?.promptLogprobs ?? []),
});

const delta = (fields: object) => ({ delta: fields, logprobs: null, finish_reason: null });

/** Name and id of a call come once; pieces of its arguments follow. */
function deltaOf(piece: Delta): object {
  if ('text' in piece) return { content: piece.text };
  if ('reasoning' in piece) return { reasoning_content: piece.reasoning };
  if (!('call' in piece)) return {};
  const { call } = piece;
  const { index } = call;
  const one =
    'name' in call
      ? { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }
      : { index, function: { arguments: call.arguments } };
  return { tool_calls: [one] };
}
