import * as z from 'zod';
import { defineTask } from './define.js';
import { EMBEDDING_FILES } from './feature-extraction.js';
import { cutOf, cuts, embedding, params, refusalOf, truncationOrRefusal } from './fragments.js';
import { finiteList } from './scores.js';
import { tokenVectors } from './token-vectors.js';

export default defineTask({
  title: 'Sentence similarity',
  summary:
    'The vector that sentence-transformers’ encode gives for a text; compare vectors to compare sentences.',
  modality: 'text',
  streams: false,
  profile: 'text',
  input: z.object({
    text: z.string(),
    params: params({
      prompt: z.string().nullish().describe('put before the text'),
      prompt_name: z.string().nullish().describe('name of a prompt in config_sentence_transformers.json'),
      normalize_embeddings: z.boolean().nullish(),
      output_value: z
        .enum(['sentence_embedding', 'token_embeddings'])
        .nullish()
        .describe('token_embeddings: the states of all tokens, a list of vectors'),
      ...cuts,
      truncation: truncationOrRefusal,
    }),
  }),
  output: z.union([embedding, z.array(embedding)]),
  example: { text: 'The train to Vienna leaves from platform seven.' },
  engines: {
    transformers: {
      head: 'embedding',
      graphs: ['model'],
      files: EMBEDDING_FILES,
      async run(handle, { text, params }, { signal, count }) {
        const { prompt, prompt_name, normalize_embeddings } = params;
        const options = {
          prompt: prompt ?? undefined,
          promptName: prompt_name ?? undefined,
          normalize: normalize_embeddings ?? undefined,
          ...cutOf(params),
          truncation: refusalOf(params.truncation),
          signal,
          onTokens: (tokensIn: number) => count({ tokensIn }),
        };
        if (params.output_value === 'token_embeddings') return tokenVectors(handle, text, options);
        return finiteList(await handle.encode(text, options));
      },
    },
  },
});
