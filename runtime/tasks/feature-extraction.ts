import * as z from 'zod';
import { defineTask } from './define.js';
import {
  cutOf,
  cuts,
  embedding,
  maxLength,
  params,
  refusalOf,
  tokenizerArguments,
  truncationOrRefusal,
} from './fragments.js';
import { finiteList } from './scores.js';
import { tokenVectors } from './token-vectors.js';

/** Files from which pooling, normalisation, prompts and lengths are read. */
export const EMBEDDING_FILES = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
  'chat_template.json',
  'additional_chat_templates/*.jinja',
  'modules.json',
  'config_sentence_transformers.json',
  'sentence_*_config.json',
  '[0-9]*_*/config.json',
  '[0-9]*_*/model.safetensors',
  // Not those of the transformer itself, which some repositories keep in 0_Transformer.
  '[0-9]*_Dense*/pytorch_model.bin',
  '[0-9]*_LayerNorm*/pytorch_model.bin',
];

export default defineTask({
  title: 'Feature extraction',
  summary:
    'One vector for a text: what encode() gives where the repository has modules of sentence-transformers, else the mean of the hidden states.',
  modality: 'text',
  streams: false,
  profile: 'text',
  input: z.object({
    text: z.string(),
    params: params({
      pooling: z
        .enum(['mean', 'cls', 'max', 'mean_sqrt_len_tokens', 'weightedmean', 'lasttoken', 'none'])
        .optional()
        .describe(
          'pool the hidden states so, whatever modules the repository has; none: those of all tokens, a list of vectors',
        ),
      normalize: z.boolean().optional().describe('scale the vector to length 1'),
      prompt_name: z
        .string()
        .nullish()
        .describe('name of a prompt in config_sentence_transformers.json, which is put before the text'),
      ...cuts,
      max_length: maxLength,
      truncation: truncationOrRefusal,
      tokenize_kwargs: tokenizerArguments,
    }),
  }),
  output: z.union([embedding, z.array(embedding)]),
  example: { text: 'A quiet river runs through the valley.' },
  engines: {
    transformers: {
      head: 'embedding',
      graphs: ['model'],
      files: EMBEDDING_FILES,
      async run(handle, { text, params }, context) {
        const { pooling, normalize, max_length, tokenize_kwargs } = params;
        const options = {
          normalize,
          promptName: params.prompt_name ?? undefined,
          ...cutOf(params),
          maxLength: tokenize_kwargs?.max_length ?? max_length ?? undefined,
          truncation: refusalOf(params.truncation, tokenize_kwargs?.truncation),
          specialTokens: tokenize_kwargs?.add_special_tokens ?? true,
          signal: context.signal,
          onTokens: (tokensIn: number) => context.count({ tokensIn }),
        };
        if (pooling === 'none') return tokenVectors(handle, text, options);
        return finiteList(await handle.embed(text, { ...options, pooling }));
      },
    },
  },
});
