import * as z from 'zod';
import { epsilon, labels, layers, size } from '../../config-fields.js';
import { stageFields } from '../backbone/stages.js';
import { dinov2Config } from '../dinov2/family.js';

/** DINOv2, most layers of which look at windows. */
const backbone = dinov2Config.and(
  z.object({
    model_type: z.literal('rf_detr_dinov2', 'another backbone than rf_detr_dinov2 is not known'),
    ...stageFields,
    apply_layernorm: z.boolean().default(true),
    reshape_hidden_states: z.literal(true, 'states of tokens are not known').default(true),
    num_windows: z.int().min(1).max(64).default(4),
    // Those that the stages leave over, where a file does not name them.
    window_block_indexes: z.array(z.int()).nullish(),
  }),
);
export type RfDetrBackbone = z.output<typeof backbone>;

/** What Python takes where a file names no backbone. */
const USUAL = {
  ...{ model_type: 'rf_detr_dinov2', num_attention_heads: 6, hidden_size: 384, image_size: 518 },
  ...{ layer_norm_eps: 1e-6, out_features: ['stage2', 'stage5', 'stage8', 'stage11'] },
};

export const rfDetrConfig = z.object({
  ...labels,
  backbone_config: backbone.nullish().transform((given) => given ?? backbone.parse(USUAL)),
  hidden_expansion: z.number().min(0.01).max(64).default(0.5),
  c2f_num_blocks: layers.default(3),
  activation_function: z.string().default('silu'),
  d_model: size.multipleOf(4).default(256),
  decoder_ffn_dim: size.default(2048),
  decoder_n_points: z.int().min(1).max(64).default(4),
  decoder_layers: layers.min(1).default(3),
  ...{ decoder_self_attention_heads: size.default(8), decoder_cross_attention_heads: size.default(16) },
  decoder_activation_function: z.string().default('relu'),
  num_queries: size.default(300),
  group_detr: z.int().min(1).max(1024).default(13),
  attention_bias: z.boolean().default(true),
  layer_norm_eps: epsilon.default(1e-5),
  mask_downsample_ratio: z.int().min(1).max(64).default(4),
  segmentation_head_activation_function: z.string().default('gelu'),
  intermediate_size: size.default(1024),
  num_feature_levels: z.literal(1, 'Python has one image of features').default(1),
});
export type RfDetrConfig = z.output<typeof rfDetrConfig>;
