import { z } from 'zod';
import { defineTask } from './define.js';
import { embedding, maxLength, params } from './fragments.js';
import { finiteList } from './scores.js';

/** Files from which pooling, normalisation, prompts and lengths are read. */
export const EMBEDDING_FILES = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'modules.json',
  'config_sentence_transformers.json',
  'sentence_*_config.json',
  '[0-9]_*/*.json',
  '[0-9]_*/model.safetensors',
];

export default defineTask({
  title: 'Feature extraction',
  summary: 'One vector for a text: the repository’s pooling over the hidden states, else their mean.',
  modality: 'text',
  streams: false,
  profile: 'text',
  input: z.object({
    text: z.string(),
    params: params({
      pooling: z.enum(['mean', 'cls', 'max', 'mean_sqrt_len_tokens', 'weightedmean', 'lasttoken']).optional(),
      normalize: z.boolean().optional().describe('scale the vector to length 1'),
      max_length: maxLength,
    }),
  }),
  output: embedding,
  example: { text: 'A quiet river runs through the valley.' },
  engines: {
    transformers: {
      head: 'embedding',
      graphs: ['model'],
      files: EMBEDDING_FILES,
      async run(handle, { text, params: { pooling, normalize, max_length } }, { signal, count }) {
        const onTokens = (tokensIn: number) => count({ tokensIn });
        const options = { pooling, normalize, maxLength: max_length, signal, onTokens };
        return finiteList(await handle.embed(text, options));
      },
    },
  },
});
