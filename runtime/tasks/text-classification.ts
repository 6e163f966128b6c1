import * as z from 'zod';
import { defineTask } from './define.js';
import {
  functionToApply,
  labelScore,
  maxLength,
  params,
  refusalOf,
  TOKENIZER_FILES,
  topK,
} from './fragments.js';
import { defaultFunction, ranked } from './scores.js';

export default defineTask({
  title: 'Text classification',
  summary: 'Puts a text into one of the classes that the model knows.',
  modality: 'text',
  streams: false,
  profile: 'text',
  input: z.object({
    text: z.string(),
    params: params({
      top_k: topK.describe('rows in the answer: 1 by default, null for every label'),
      function_to_apply: functionToApply,
      text_pair: z.string().nullish().describe('a second text, for models that judge two together'),
      max_length: maxLength,
      add_special_tokens: z.boolean().nullish().describe('false: nothing around the text'),
      return_all_scores: z.boolean().nullish().describe('older name of top_k: null'),
      truncation: z
        .union([z.boolean(), z.enum(['longest_first', 'only_first', 'only_second'])])
        .nullish()
        .describe('which text is cut where both are too long; false: what is too long is refused'),
      padding: z
        .union([z.boolean(), z.enum(['longest', 'max_length', 'do_not_pad'])])
        .nullish()
        .describe('max_length fills the text up to the longest input; all others leave it as it is'),
    }),
  }),
  output: z.array(labelScore),
  example: { text: 'What a wonderful day to launch a boat!' },
  engines: {
    transformers: {
      head: 'sequence-classification',
      graphs: ['model'],
      files: TOKENIZER_FILES,
      async run(
        handle,
        { text, params: { top_k, function_to_apply, return_all_scores, ...given } },
        { signal },
      ) {
        const result = await handle.classify(text, {
          // Python takes an empty second text for none.
          pair: given.text_pair || undefined,
          maxLength: given.max_length ?? undefined,
          truncation: typeof given.truncation === 'string' ? given.truncation : refusalOf(given.truncation),
          specialTokens: given.add_special_tokens ?? true,
          padded: given.padding === 'max_length',
          signal,
        });
        const rows = top_k === undefined ? (return_all_scores === true ? null : 1) : top_k;
        return ranked(result, function_to_apply ?? defaultFunction(result), rows);
      },
    },
  },
});
