import * as z from 'zod';
import { layers, size } from '../../config-fields.js';
import { backbone } from '../backbone/index.js';
import { ALL_STAGES, maskFields } from '../mask-queries.js';

const SWIN = { model_type: 'swin', depths: [2, 2, 18, 2], out_features: ALL_STAGES };

export const mask2FormerConfig = z
  .object({
    ...maskFields,
    backbone_config: backbone.nullish().transform((given) => given ?? backbone.parse(SWIN)),
    ...{ feature_size: size.multipleOf(4).default(256), hidden_dim: size.multipleOf(4).default(256) },
    ...{ encoder_feedforward_dim: size.default(1024), dim_feedforward: size.default(2048) },
    activation_function: z.string().default('relu'),
    ...{ encoder_layers: layers.default(6), decoder_layers: layers.min(1).default(10) },
    num_attention_heads: size.default(8),
    pre_norm: z.boolean().default(false),
    enforce_input_projection: z.literal(false, 'Python does not store such projections').default(false),
    common_stride: z.int().min(1).max(1024).default(4),
    feature_strides: z.array(z.int().min(1).max(4096)).min(1).max(16).default([4, 8, 16, 32]),
    num_queries: size.default(100),
  })
  .refine((c) => c.feature_size === c.hidden_dim, {
    ...{ message: 'Python does not store projections from one width to another', path: ['hidden_dim'] },
  });
export type Mask2FormerConfig = z.output<typeof mask2FormerConfig>;
