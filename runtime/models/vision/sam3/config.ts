import * as z from 'zod';
import { epsilon, layers, size } from '../../config-fields.js';
import { channels } from '../../bases/vision/vit-config.js';
import { edge, promptFields } from '../sam/config.js';
import { levelSizes, promptedConfig, SIZES_AGREE } from '../sam2/config.js';

const backbone = z.object({
  model_type: z.literal('sam3_vit_model', 'only SAM 3’s own is known').default('sam3_vit_model'),
  hidden_size: size.multipleOf(4).default(1024),
  intermediate_size: size.default(4736),
  num_hidden_layers: layers.default(32),
  num_attention_heads: size.default(16),
  num_channels: channels,
  image_size: edge.default(1008),
  patch_size: edge.default(14),
  hidden_act: z.string().default('gelu'),
  layer_norm_eps: epsilon.default(1e-6),
  window_size: z.int().min(0).max(1024).default(24),
  global_attn_indexes: z.array(z.int()).max(1024).default([7, 15, 23, 31]),
  pretrain_image_size: edge.default(336),
  rope_theta: z.number().positive().default(10_000),
  rope_scaling: z.strictObject({ rope_type: z.literal('axial') }).nullish(),
});
export type Sam3Backbone = z.output<typeof backbone>;

/** Enlarged four times, twice, as it is; and halved, which prompts don't look at. */
const scales = z.union(
  [
    z.tuple([z.literal(4), z.literal(2), z.literal(1), z.literal(0.5)]),
    z.tuple([z.literal(4), z.literal(2), z.literal(1)]),
  ],
  'other than 4, 2, 1 and 0.5 are not known',
);

const images = z.object({
  backbone_config: backbone.prefault({}),
  fpn_hidden_size: size.default(256),
  scale_factors: scales.default([4, 2, 1, 0.5]),
  backbone_feature_sizes: levelSizes([288, 144, 72]),
});

const prompts = promptFields.extend({ image_size: edge.default(1008), patch_size: edge.default(14) });

/** Patches of a column and of a line. */
export const gridOf = (c: Record<'image_size' | 'patch_size', number>): number =>
  Math.floor(c.image_size / c.patch_size);

export const sam3Config = promptedConfig(images.prefault({}), prompts.prefault({}))
  .refine(({ images, edge }) => edge > 0 && gridOf(images.backbone_config) === edge, {
    ...{ message: 'its grid is not that of the images', path: ['prompt_encoder_config'] },
  })
  .refine(...SIZES_AGREE);
export type Sam3Config = z.output<typeof sam3Config>;
