import * as z from 'zod';
import { defineTask } from './define.js';
import { functionToApply, labelScore, params, PROCESSOR_FILES, topK, withMedia } from './fragments.js';
import { defaultFunction, ranked } from './scores.js';

export default defineTask({
  title: 'Image classification',
  summary: 'Classifies an image by the labels that the model knows.',
  modality: 'image',
  streams: false,
  profile: 'vision',
  input: withMedia({
    params: params({
      top_k: topK.describe('rows in the answer, 5 by default'),
      function_to_apply: functionToApply,
    }),
  }),
  output: z.array(labelScore),
  example: { url: 'https://example.com/harbour.jpg' },
  engines: {
    transformers: {
      head: 'image-classification',
      graphs: ['model'],
      files: PROCESSOR_FILES,
      async run(handle, { media, params: { top_k, function_to_apply } }, { signal }) {
        const result = await handle.classify(media.bytes, signal);
        return ranked(result, function_to_apply ?? defaultFunction(result), top_k === undefined ? 5 : top_k);
      },
    },
  },
});
