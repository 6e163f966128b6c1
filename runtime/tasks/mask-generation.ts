import * as z from 'zod';
import { encodedJson, encodeRows, type EncodedJson } from '../core/encoded-json.js';
import { RunError } from '../core/errors.js';
import type { GeneratedMasks } from '../core/handles/index.js';
import { defineTask } from './define.js';
import { params, PROCESSOR_FILES, withMedia } from './fragments.js';

/** Most bytes of an answer: each pixel of each mask takes two. */
const MOST_BYTES = 2 ** 27;

export default defineTask({
  title: 'Mask generation',
  summary: 'Finds the masks of everything in an image.',
  modality: 'image',
  streams: false,
  profile: 'vision',
  input: withMedia({
    params: params({
      points_per_crop: z
        .int()
        .min(1)
        .max(128)
        .nullish()
        .describe('points of each side of the grid, 32 by default'),
      points_per_batch: z
        .int()
        .min(1)
        .max(4096)
        .nullish()
        .describe('points of each run, at most 16 at a time; changes no answer'),
      pred_iou_thresh: z.number().nullish().describe('least score, 0.88 by default'),
      stability_score_thresh: z.number().nullish().describe('least stability of the edge, 0.95 by default'),
      stability_score_offset: z
        .number()
        .nullish()
        .describe('how far thresholds are moved to judge the edge, 1 by default'),
      mask_threshold: z
        .number()
        .nullish()
        .describe('logit from which on a pixel belongs to a mask, 0 by default'),
      crops_nms_thresh: z.number().nullish().describe('most overlap of two masks’ boxes, 0.7 by default'),
      crops_n_layers: z.literal(0).nullish().describe('crops of the image are not supported'),
      crop_overlap_ratio: z.number().nullish().describe('does nothing without crops'),
      crop_n_points_downscale_factor: z.number().nullish().describe('does nothing without crops'),
      output_bboxes_mask: z.boolean().nullish().describe('true: bounding_boxes, too'),
    }),
  }),
  output: z.object({
    input_image_dimensions: z.object({ width: z.int(), height: z.int() }),
    masks: z.array(z.array(z.array(z.int()))).describe('0 or 1 for each pixel, row by row'),
    scores: z.array(z.number()),
    bounding_boxes: z
      .array(z.tuple([z.int(), z.int(), z.int(), z.int()]))
      .optional()
      .describe('first column, first row, last column and last row of each mask'),
  }),
  example: { url: 'https://example.com/harbour.jpg' },
  engines: {
    transformers: {
      head: 'mask-generation',
      graphs: ['vision_encoder', 'prompt_encoder_mask_decoder'],
      files: PROCESSOR_FILES,
      example: () => ({ url: 'https://example.com/harbour.jpg', params: { points_per_crop: 1 } }),
      async run(handle, { media, params }, { signal }) {
        const options = {
          pointsPerSide: params.points_per_crop ?? 32,
          pointsPerRun: params.points_per_batch ?? 64,
          minScore: params.pred_iou_thresh ?? 0.88,
          minStability: params.stability_score_thresh ?? 0.95,
          offset: params.stability_score_offset ?? 1,
          threshold: params.mask_threshold ?? 0,
          overlap: params.crops_nms_thresh ?? 0.7,
        };
        const found = await handle.generate(media.bytes, options, signal);
        return encodeMasks(found, params.output_bboxes_mask === true);
      },
    },
  },
});

/** @throws RunError 422 an answer of too many bytes */
async function encodeMasks(
  { width, height, masks }: GeneratedMasks,
  withBoxes: boolean,
): Promise<EncodedJson> {
  const bytes = 2 * width * height * masks.length;
  if (bytes > MOST_BYTES) {
    throw new RunError(
      'unprocessable',
      `the answer would have ${masks.length} masks of ${width} x ${height} pixels, which is ${Math.round(bytes / 1e6)} MB ` +
        `of ${MOST_BYTES / 1e6}; send a smaller image, or raise params.pred_iou_thresh`,
    );
  }
  const size = JSON.stringify({ width, height });
  const scores = JSON.stringify(masks.map(({ score }) => score));
  const rows: (string | Uint8Array)[] = [];
  for (const [i, { pixels }] of masks.entries()) {
    rows.push(i > 0 ? ',' : '', encodeRows(pixels(), width));
    // Others are served between two masks.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const corners = masks.map(({ box: { left, top, right, bottom } }) => [left, top, right, bottom]);
  const boxes = withBoxes ? `,"bounding_boxes":${JSON.stringify(corners)}` : '';
  return encodedJson([
    `{"input_image_dimensions":${size},"masks":[`,
    ...rows,
    `],"scores":${scores}${boxes}}`,
  ]);
}
