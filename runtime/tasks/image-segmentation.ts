import * as z from 'zod';
import { defineTask } from './define.js';
import { base64Png, params, PROCESSOR_FILES, threshold, TOKENIZER_FILES, withMedia } from './fragments.js';

const share = z.number().min(0).max(1).nullish();

export default defineTask({
  title: 'Image segmentation',
  summary:
    'Finds which pixels of an image belong to which object or class, or how much of each is foreground where the model removes backgrounds.',
  modality: 'image',
  streams: false,
  profile: 'vision',
  input: withMedia({
    params: params({
      subtask: z
        .enum(['panoptic', 'instance', 'semantic'])
        .nullish()
        .describe('what is looked for; what the model does best by default'),
      threshold: threshold(0.9),
      mask_threshold: share.describe('probability from which on a pixel belongs to a mask, 0.5 by default'),
      overlap_mask_area_threshold: share.describe(
        'least share of a mask that others leave to it, 0.5 by default',
      ),
    }),
  }),
  output: z.array(
    z.object({
      label: z.string(),
      score: z.number().nullable(),
      mask_png: base64Png.describe(
        'grey PNG of the image’s size in Base64: 255 where it is; levels between for a foreground',
      ),
    }),
  ),
  example: { url: 'https://example.com/harbour.jpg' },
  engines: {
    transformers: {
      head: 'image-segmentation',
      graphs: ['model'],
      files: PROCESSOR_FILES,
      // It reads what it is to do as a text.
      typeFiles: { oneformer: TOKENIZER_FILES },
      async run(handle, { media, params }, { signal }) {
        const options = {
          subtask: params.subtask ?? undefined,
          threshold: params.threshold,
          maskThreshold: params.mask_threshold ?? 0.5,
          overlapThreshold: params.overlap_mask_area_threshold ?? 0.5,
        };
        const parts = await handle.segment(media.bytes, options, signal);
        return parts.map(({ label, score, png }) => ({
          ...{ label, score: score ?? null },
          mask_png: Buffer.from(png).toString('base64'),
        }));
      },
    },
  },
});
