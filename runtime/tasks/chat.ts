import * as z from 'zod';
import {
  asAssistant,
  conversationAnswer,
  conversationParams,
  messageWith,
  templateVariables,
} from './conversation.js';
import { defineTask } from './define.js';
import { params } from './fragments.js';
import { generationUsage, unstreamable } from './generated.js';
import { grammarParams } from './grammar-params.js';
import { generationParams, promptParams, scoringParams } from './generation-params.js';
import { checkRawPrompt, rawParams, rawPromptOf } from './prompt-tokens.js';
import { GENERATION_FILES } from './text-generation.js';
import { checkTools } from './tool-params.js';

const textBlock = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.string().transform((text) => ({ type: 'text' as const, text })),
]);

/** A string, an array of blocks and strings, or a single block. The chat task takes text blocks only. */
const content = z.union([z.string(), z.array(textBlock), textBlock.transform((block) => [block])]);

const message = messageWith(content);

export default defineTask({
  title: 'Chat',
  summary: 'Answers the last message of a conversation.',
  modality: 'messages',
  streams: true,
  unstreamable,
  profile: 'text',
  input: z
    .object({
      messages: z.array(message).min(1),
      params: params({
        ...generationParams,
        ...grammarParams,
        ...promptParams,
        ...scoringParams,
        ...rawParams,
        documents: z.array(z.record(z.string(), z.unknown())).nullish(),
        ...conversationParams,
      }),
    })
    .superRefine(checkTools)
    .superRefine(checkRawPrompt),
  output: conversationAnswer,
  example: { messages: [{ role: 'user', content: 'Hello, who are you?' }], params: { max_new_tokens: 20 } },
  engines: {
    generation: {
      head: 'causal-lm',
      graphs: ['model'],
      files: GENERATION_FILES,
      tools: ({ tools }) => tools,
      async *run(handle, { messages, params: options }, { signal, count }) {
        if (options.apply_chat_template === false) {
          const prompt = rawPromptOf(messages)!;
          const found = yield* handle.generate(prompt, options, signal);
          count(generationUsage(found));
          return asAssistant(found, messages, options.continue_final_message ?? false);
        }
        const { tools, documents, enable_thinking, chat_template_kwargs, ...generation } = options;
        const variables = templateVariables({ tools, documents, enable_thinking, ...chat_template_kwargs });
        const found = yield* handle.chat(messages, variables, { ...generation, tools }, signal);
        count(generationUsage(found));
        return asAssistant(found, messages, options.continue_final_message);
      },
    },
  },
});
