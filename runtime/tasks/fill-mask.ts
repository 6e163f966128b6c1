import * as z from 'zod';
import { RunError } from '../core/errors.js';
import { defineTask } from './define.js';
import { params, refusalOf, TOKENIZER_FILES, tokenizerArguments } from './fragments.js';
import { finite } from './scores.js';

const row = z.object({
  score: z.number(),
  token: z.number(),
  token_str: z.string(),
  sequence: z.string(),
});

/** What sentence-transformers writes for sparse encoders. */
const SPLADE_FILES = [
  'modules.json',
  'config_sentence_transformers.json',
  'sentence_bert_config.json',
  '[0-9]*_SpladePooling/config.json',
];

export default defineTask({
  title: 'Fill mask',
  summary: 'Finds the likeliest tokens for the mask tokens of a text; several masks give one list each.',
  modality: 'text',
  streams: false,
  profile: 'text',
  input: z.object({
    text: z.string().describe('holds the model’s mask token, such as [MASK] or <mask>'),
    params: params({
      top_k: z.int().min(1).nullish().describe('rows for each mask, 5 by default'),
      targets: z
        .union([z.string(), z.array(z.string()).min(1)])
        .nullish()
        .describe('only these tokens; of a text that is no token, the first'),
      sparse: z
        .boolean()
        .nullish()
        .describe(
          'true: the sparse vector of the text (SPLADE), a weight for each token of the vocabulary that has one; only where the repository has a SpladePooling',
        ),
      prompt_name: z
        .string()
        .nullish()
        .describe(
          'with sparse: name of a prompt in config_sentence_transformers.json, which is put before the text',
        ),
      tokenizer_kwargs: tokenizerArguments,
    }),
  }),
  output: z.array(z.union([row, z.array(row), z.object({ index: z.int(), value: z.number() })])),
  example: { text: 'The capital of France is [MASK].' },
  engines: {
    transformers: {
      head: 'masked-lm',
      graphs: ['model'],
      files: [...TOKENIZER_FILES, ...SPLADE_FILES],
      example: ({ maskToken }) => ({ text: maskToken }),
      async run(
        handle,
        { text, params: { top_k, targets, sparse, prompt_name, tokenizer_kwargs } },
        { signal },
      ) {
        const options = {
          topK: top_k ?? 5,
          targets: typeof targets === 'string' ? [targets] : (targets ?? undefined),
          maxLength: tokenizer_kwargs?.max_length ?? undefined,
          truncation: refusalOf(tokenizer_kwargs?.truncation),
          specialTokens: tokenizer_kwargs?.add_special_tokens ?? true,
        };
        if (sparse) {
          const promptName = prompt_name ?? undefined;
          if (handle.sparse) return handle.sparse(text, { ...options, promptName }, signal);
          throw new RunError(
            'unprocessable',
            'params.sparse: this repository names no SpladePooling in modules.json, so its scores are no sparse vector',
          );
        }
        if (prompt_name != null)
          throw new RunError('invalid_input', 'params.prompt_name: goes with params.sparse');
        const masks = await handle.fill(text, options, signal);
        const rows = masks.map((mask) => mask.map((each) => ({ ...each, score: finite(each.score) })));
        return rows.length === 1 ? rows[0]! : rows;
      },
    },
  },
});
