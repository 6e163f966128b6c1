import * as z from 'zod';
import { defineTask } from './define.js';
import { functionToApply, labelScore, params, PROCESSOR_FILES, topK, withMedia } from './fragments.js';
import { ranked } from './scores.js';

/** Of a clip; no model reads as many. */
const MOST_FRAMES = 1024;

export default defineTask({
  title: 'Video classification',
  summary: 'Puts a video into the classes that the model knows.',
  modality: 'video',
  streams: false,
  profile: 'media',
  input: withMedia({
    params: params({
      top_k: topK.describe('rows in the answer, 5 by default'),
      function_to_apply: functionToApply,
      num_frames: z
        .int()
        .min(1)
        .max(MOST_FRAMES)
        .nullish()
        .describe('frames to read; the model’s own number by default'),
      frame_sampling_rate: z
        .int()
        .min(1)
        .max(MOST_FRAMES)
        .nullish()
        .describe('every so many frames, from the first on, one is read; 1 by default'),
    }),
  }),
  output: z.array(labelScore),
  example: { url: 'https://example.com/surfing.mp4' },
  engines: {
    transformers: {
      head: 'video-classification',
      graphs: ['model'],
      files: PROCESSOR_FILES,
      async run(handle, { media, params: options }, { signal }) {
        const clip = { frames: options.num_frames ?? undefined, every: options.frame_sampling_rate ?? 1 };
        const result = await handle.classify(media.bytes, clip, signal);
        // VideoClassificationPipeline: softmax whatever the model was trained for.
        return ranked(result, options.function_to_apply ?? 'softmax', options.top_k ?? 5);
      },
    },
  },
});
