import * as z from 'zod';
import { defineTask } from './define.js';
import { params } from './fragments.js';
import { generatedText, textAnswer, unstreamable, generationUsage } from './generated.js';
import { checkPromptTokens } from './prompt-tokens.js';
import { grammarParams } from './grammar-params.js';
import { generationParams, promptParams, scoringParams } from './generation-params.js';

/** What a decoder-only language model reads beside its graph. */
export const GENERATION_FILES = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'generation_config.json',
  'chat_template.jinja',
  'chat_template.json',
  'additional_chat_templates/*.jinja',
];

export default defineTask({
  title: 'Text generation',
  summary: 'Continues a text.',
  modality: 'text',
  streams: true,
  unstreamable,
  profile: 'text',
  input: z
    .object({
      text: z.string(),
      params: params({
        ...generationParams,
        ...grammarParams,
        ...promptParams,
        ...scoringParams,
        prefix: z.string().nullish().describe('put before the prompt, but not into the answer'),
        add_special_tokens: z.boolean().nullish().describe('false: no BOS before the prompt'),
        return_full_text: z.boolean().nullish().describe('false: the continuation without the prompt'),
      }),
    })
    .superRefine(checkPromptTokens),
  output: generatedText,
  example: { text: 'Once upon a time', params: { max_new_tokens: 20 } },
  engines: {
    generation: {
      head: 'causal-lm',
      graphs: ['model'],
      files: GENERATION_FILES,
      async *run(handle, { text, params: { return_full_text, ...options } }, { signal, count }) {
        const found = yield* handle.generate(text, options, signal);
        count(generationUsage(found));
        const prompt = found[0]!.promptText ?? text;
        return textAnswer(found, return_full_text === false ? '' : prompt);
      },
    },
  },
});
