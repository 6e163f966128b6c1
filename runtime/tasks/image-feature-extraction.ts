import * as z from 'zod';
import { defineTask } from './define.js';
import { params, PROCESSOR_FILES, withMedia } from './fragments.js';
import { tensorJson } from './tensor-json.js';

export default defineTask({
  title: 'Image feature extraction',
  summary: 'Gives the hidden states of an image.',
  modality: 'image',
  streams: false,
  profile: 'vision',
  input: withMedia({
    params: params({
      return_tensors: z.boolean().nullish().describe('the answer is the same'),
      pool: z.boolean().nullish().describe('true: the one vector that the model makes of all of them'),
    }),
  }),
  output: z
    .array(z.array(z.unknown()))
    .describe('tokens x hidden; channels x height x width of convolutions'),
  example: { url: 'https://example.com/harbour.jpg' },
  engines: {
    transformers: {
      head: 'image-features',
      graphs: ['model'],
      files: PROCESSOR_FILES,
      async run(handle, { media, params: { pool } }, { signal }) {
        const { values, dims } = await handle.extract(media.bytes, pool === true, signal);
        return tensorJson(values, dims);
      },
    },
  },
});
