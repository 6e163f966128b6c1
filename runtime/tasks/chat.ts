import { z } from 'zod';
import { defineTask } from './define.js';
import { params } from './fragments.js';
import { logprobs, singleAnswer, unstreamable, generationUsage } from './generated.js';
import { generationParams, promptParams } from './generation-params.js';
import { GENERATION_FILES } from './text-generation.js';

const textBlock = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.string().transform((text) => ({ type: 'text' as const, text })),
]);

/** A string, an array of blocks and strings, or a single block. The chat task takes text blocks only. */
const content = z.union([z.string(), z.array(textBlock), textBlock.transform((block) => [block])]);

/** Arguments of conversations. */
export const conversationParams = {
  chat_template_kwargs: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('more variables for the chat template'),
  continue_final_message: z
    .boolean()
    .nullish()
    .describe('go on with the last message; true by default where it is the assistant’s'),
};

interface Begun {
  role: string;
  content?: string | readonly { type: string; text?: string }[] | null | undefined;
}

/** The last text of the last message, where the model goes on with it. */
export function begunText(messages: readonly Begun[], continues: boolean | null | undefined): string {
  const last = messages.at(-1)!;
  if (!(continues ?? last.role === 'assistant')) return '';
  const { content: from } = last;
  return typeof from === 'string' ? from : (from?.findLast(({ type }) => type === 'text')?.text ?? '');
}

/** Other keys (name, tool_calls, …) are passed on to the template unchanged. */
const message = z
  .looseObject({ role: z.string().min(1), content: content.nullish() })
  .refine((given) => given.content != null || given.role === 'assistant', {
    message: 'is required',
    path: ['content'],
  });

const answer = z.object({
  role: z.literal('assistant'),
  content: z.string(),
  logprobs: logprobs.optional(),
});

export default defineTask({
  title: 'Chat',
  summary: 'Answers the last message of a conversation.',
  modality: 'messages',
  streams: true,
  unstreamable,
  profile: 'text',
  input: z.object({
    messages: z.array(message).min(1),
    params: params({
      ...generationParams,
      ...promptParams,
      tools: z
        .array(z.record(z.string(), z.unknown()))
        .nullish()
        .describe('tool schemas for the chat template'),
      documents: z.array(z.record(z.string(), z.unknown())).nullish(),
      enable_thinking: z.boolean().nullish(),
      ...conversationParams,
    }),
  }),
  output: z.union([answer, z.array(answer)]),
  example: { messages: [{ role: 'user', content: 'Hello, who are you?' }], params: { max_new_tokens: 20 } },
  engines: {
    generation: {
      head: 'causal-lm',
      graphs: ['model'],
      files: GENERATION_FILES,
      async *run(handle, { messages, params: options }, { signal, count }) {
        const { tools, documents, enable_thinking, chat_template_kwargs, ...generation } = options;
        const given = { tools, documents, enable_thinking, ...chat_template_kwargs };
        const variables = Object.fromEntries(Object.entries(given).filter(([, value]) => value != null));
        const found = yield* handle.chat(messages, variables, generation, signal);
        count(generationUsage(found));
        const begun = begunText(messages, options.continue_final_message);
        return singleAnswer(
          found.map((one) => ({
            role: 'assistant' as const,
            content: begun + one.text,
            ...(one.logprobs ? { logprobs: one.logprobs } : {}),
          })),
        );
      },
    },
  },
});
