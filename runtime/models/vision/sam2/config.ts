import * as z from 'zod';
import { epsilon, layers, size } from '../../config-fields.js';
import { channels, stages } from '../../bases/vision/vit-config.js';
import { edge, MASK_FIELDS, promptsConfig } from '../sam/config.js';

const pair = (given: number) => z.tuple([edge, edge]).default([given, given]);
const padding = z.int().min(0).max(1024);

const hiera = z
  .object({
    model_type: z.literal('sam2_hiera_det_model', 'only Hiera is known').default('sam2_hiera_det_model'),
    hidden_size: size.default(96),
    num_channels: channels,
    ...{ patch_kernel_size: pair(7), patch_stride: pair(4) },
    patch_padding: z.tuple([padding, padding]).default([3, 3]),
    query_stride: pair(2),
    window_positional_embedding_background_size: pair(7),
    num_query_pool_stages: z.int().min(0).max(64).default(3),
    blocks_per_stage: stages.default([1, 2, 7, 2]),
    embed_dim_per_stage: stages.default([96, 192, 384, 768]),
    num_attention_heads_per_stage: stages.default([1, 2, 4, 8]),
    window_size_per_stage: z.array(z.int().min(0).max(1024)).max(64).default([8, 4, 14, 7]),
    global_attention_blocks: z.array(z.int()).max(1024).default([5, 7, 9]),
    mlp_ratio: z.number().min(0.01).max(64).default(4),
    hidden_act: z.string().default('gelu'),
    layer_norm_eps: epsilon.default(1e-6),
  })
  .refine(
    (c) =>
      [c.embed_dim_per_stage, c.num_attention_heads_per_stage, c.window_size_per_stage].every(
        ({ length }) => length === c.blocks_per_stage.length,
      ) && c.blocks_per_stage.reduce((sum, count) => sum + count, 0) <= 1024,
    { message: 'other lists are of another length', path: ['blocks_per_stage'] },
  )
  .refine((c) => c.hidden_size === c.embed_dim_per_stage[0], {
    ...{ message: 'the first stage is of another width', path: ['hidden_size'] },
  });
export type HieraConfig = z.output<typeof hiera>;

/** Of the neck behind stages, each of half the edge of the one before. */
export const neckFields = {
  fpn_hidden_size: size.default(256),
  fpn_kernel_size: z.int().min(1).max(64).default(1),
  fpn_stride: z.literal(1, 'images that are made smaller there are not known').default(1),
  fpn_padding: padding.default(0),
  fpn_top_down_levels: z.array(z.int()).max(64).default([2, 3]),
  num_feature_levels: z.literal(3, 'Python reads three images').default(3),
};
const neck = z.object(neckFields);
export type NeckConfig = z.output<typeof neck>;

const images = neck.extend({ backbone_config: hiera.prefault({}) });

const masks = z.object({
  ...MASK_FIELDS,
  num_hidden_layers: layers.min(2).default(2),
  iou_head_depth: layers.min(2).default(3),
});

/** What reads prompts. */
export interface PromptParts {
  prompts: z.output<typeof promptsConfig>;
  masks: z.output<typeof masks>;
  /** Cells of a column and of a line that prompts look at. */
  edge: number;
}

/** Parts of models that read prompts, of one width. @param prompts with other defaults than SAM 2's, perhaps */
export const promptedConfig = <I extends { fpn_hidden_size: number }>(
  images: z.ZodType<I>,
  prompts: z.ZodType<PromptParts['prompts']> = promptsConfig.prefault({}),
) =>
  z
    .object({
      vision_config: images,
      prompt_encoder_config: prompts,
      mask_decoder_config: masks.prefault({}),
    })
    .transform((c) => ({
      images: c.vision_config,
      prompts: c.prompt_encoder_config,
      masks: c.mask_decoder_config,
      edge: Math.floor(c.prompt_encoder_config.image_size / c.prompt_encoder_config.patch_size),
    }))
    .superRefine(({ images, prompts, masks }, context) => {
      const others = [prompts.hidden_size, masks.hidden_size];
      if (others.some((other) => other !== images.fpn_hidden_size))
        context.addIssue({
          ...{ code: 'custom', message: 'parts are of different width', path: ['vision_config'] },
        });
    });

/** Sizes of the three images that prompts look at, as files repeat them. */
export const levelSizes = (usual: readonly number[]) =>
  z.array(z.tuple([z.int(), z.int()])).default(usual.map((edge) => [edge, edge]));

/** For `refine`: those sizes are the ones that the network has. */
export const SIZES_AGREE = [
  (c: { images: { backbone_feature_sizes: readonly (readonly number[])[] }; edge: number }): boolean =>
    JSON.stringify(c.images.backbone_feature_sizes) ===
    JSON.stringify([4, 2, 1].map((factor) => [factor * c.edge, factor * c.edge])),
  { message: 'are not those of the images', path: ['vision_config', 'backbone_feature_sizes'] },
] satisfies [unknown, object];

export const sam2Config = promptedConfig(images.prefault({}));
export type Sam2Config = z.output<typeof sam2Config>;
