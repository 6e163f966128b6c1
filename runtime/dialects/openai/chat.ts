import * as z from 'zod';
import { RunError } from '../../core/errors.js';
import type { TaskId } from '../../core/task-ids.js';
import {
  generationOf,
  ignoredFields,
  modelField,
  readFields,
  unsupportedField,
  samplingFields,
  dropNullish,
} from '../fields.js';
import type { DialectHost, ServedModel } from '../host.js';
import { findModel } from './models.js';
import type { TextRequest, TextShape } from './text-answers.js';

const NO_TOOLS = 'models here call no tools';

const part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image_url'),
    image_url: z.object({
      url: z.string().min(1).describe('http(s) address or data URL'),
      detail: z.literal('auto', { error: 'can only be auto' }).optional(),
    }),
  }),
  z.object({
    type: z.literal('input_audio'),
    input_audio: z.object({
      data: z.string().min(1).describe('the file in Base64'),
      format: z.string().optional().describe('is found out by itself'),
    }),
  }),
  z.object({
    type: z.literal('video_url'),
    video_url: z.object({ url: z.string().min(1).describe('http(s) address or data URL') }),
  }),
]);

type Part = z.output<typeof part>;

/** Other keys are passed on to the model's chat template unchanged. */
const message = z.looseObject({
  role: z.enum(['developer', 'system', 'user', 'assistant']),
  content: z.union([z.string(), z.array(part).min(1)]).nullish(),
  tool_calls: unsupportedField(NO_TOOLS),
  function_call: unsupportedField(NO_TOOLS),
  audio: unsupportedField('answers are text'),
  refusal: unsupportedField('models here answer in the content'),
});

/** POST chat/completions. */
export const chatBody = z.strictObject({
  model: modelField,
  messages: z.array(message).min(1),
  ...samplingFields,
  max_completion_tokens: z.int().min(1).nullish().describe('the same as max_tokens'),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  response_format: z.strictObject({ type: z.literal('text', { error: 'can only be text' }) }).nullish(),
  modalities: z.array(z.literal('text', { error: 'can only be text' })).nullish(),
  ...ignoredFields,
  parallel_tool_calls: z.boolean().nullish().describe('no tools are called'),
  tool_choice: z.literal('none', { error: `can only be none: ${NO_TOOLS}` }).nullish(),
  tools: unsupportedField(NO_TOOLS),
  functions: unsupportedField(NO_TOOLS),
  function_call: unsupportedField(NO_TOOLS),
  audio: unsupportedField('answers are text'),
  prediction: unsupportedField('send the prompt without it'),
  reasoning_effort: unsupportedField('it is a matter of the model'),
  verbosity: unsupportedField('it is a matter of the model'),
  web_search_options: unsupportedField('models here search nothing'),
});

type ChatBody = z.output<typeof chatBody>;

/** @throws RunError that names the field */
export function readChat(json: unknown, host: DialectHost): TextRequest {
  const given = readFields(chatBody, json);
  const model = findModel('/chat/completions', given.model ?? undefined, host);
  const messages = given.messages.map((message, i) => messageOf(model, message, `messages.${i}`));
  const params = {
    ...generationOf({ ...given, max_tokens: lengthOf(given) }),
    ...(given.logprobs ? { logprobs: given.top_logprobs ?? 0 } : {}),
    // OpenAI's interface never continues a final assistant message; the model answers it.
    continue_final_message: false,
  };
  return {
    model,
    bodies: [{ messages, params }],
    names: {
      num_return_sequences: 'n',
      max_new_tokens: given.max_completion_tokens == null ? 'max_tokens' : 'max_completion_tokens',
    },
    echoes: [''],
    stream: given.stream ?? false,
    includeUsage: given.stream_options?.include_usage ?? false,
    shape,
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

/** Media that tasks read. */
const KINDS: Readonly<Partial<Record<TaskId, readonly string[]>>> = {
  'image-text-to-text': ['image'],
  'audio-text-to-text': ['audio'],
  'video-text-to-text': ['video', 'image'],
};

/** OpenAI's role `developer` is called `system` in chat templates. */
function messageOf(
  { modelId, task }: ServedModel,
  { role, content, ...rest }: ChatBody['messages'][number],
  path: string,
): Record<string, unknown> {
  const blocks = Array.isArray(content)
    ? content.map((one, i) => {
        const block = blockOf(one);
        if (block['type'] === 'text' || KINDS[task]?.includes(String(block['type']))) return block;
        const read = ['text', ...(KINDS[task] ?? [])].join(' and ');
        throw new RunError('invalid_input', `${path}.content.${i}.type: ${modelId} reads ${read} only`);
      })
    : content;
  return { role: role === 'developer' ? 'system' : role, content: blocks, ...dropNullish(rest) };
}

/** Converts a part of a message to the content block that tasks use. */
export function blockOf(part: Part): Record<string, unknown> {
  if (part.type === 'text') return { ...part };
  if (part.type === 'input_audio') return { type: 'audio', base64: part.input_audio.data };
  const [type, { url }] = part.type === 'image_url' ? ['image', part.image_url] : ['video', part.video_url];
  return { type, ...(/^https?:/i.test(url) ? { url } : { base64: url }) };
}

const withRefusal = (fields: object) => ({ ...fields, refusal: null });

const shape: TextShape = {
  prefix: 'chatcmpl',
  object: 'chat.completion',
  chunk: 'chat.completion.chunk',
  choice: ({ text, logprobs, finish }) => ({
    message: withRefusal({ role: 'assistant', content: text }),
    logprobs: logprobs ? withRefusal({ content: logprobs }) : null,
    finish_reason: finish,
  }),
  begin: () => ({
    delta: withRefusal({ role: 'assistant', content: '' }),
    logprobs: null,
    finish_reason: null,
  }),
  piece: (content, logprobs) => ({
    delta: { content },
    logprobs: logprobs ? withRefusal({ content: logprobs }) : null,
    finish_reason: null,
  }),
  end: (finish) => ({ delta: {}, logprobs: null, finish_reason: finish }),
};
