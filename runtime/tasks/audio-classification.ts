import * as z from 'zod';
import { defineTask } from './define.js';
import { functionToApply, labelScore, params, PROCESSOR_FILES, topK, withMedia } from './fragments.js';
import { ranked } from './scores.js';

export default defineTask({
  title: 'Audio classification',
  summary: 'Classifies an audio clip by the labels that the model knows.',
  modality: 'audio',
  streams: false,
  profile: 'media',
  input: withMedia({
    params: params({
      top_k: topK.describe('rows in the answer, all by default'),
      function_to_apply: functionToApply,
    }),
  }),
  output: z.array(labelScore),
  example: { url: 'https://example.com/word.wav' },
  engines: {
    transformers: {
      head: 'audio-classification',
      graphs: ['model'],
      files: PROCESSOR_FILES,
      async run(handle, { media, params: { top_k, function_to_apply } }, { signal }) {
        const result = await handle.classify(media.bytes, signal);
        // AudioClassificationPipeline: softmax whatever the model was trained for.
        return ranked(result, function_to_apply ?? 'softmax', top_k ?? null);
      },
    },
  },
});
