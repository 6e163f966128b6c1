import * as z from 'zod';
import { epsilon, labels, layers, size } from '../../config-fields.js';
import { backbone } from '../backbone/index.js';

const activation = z.string().nullable().default('silu');
const few = z.array(size).min(1).max(16);
const pointCount = z.int().min(1).max(64);

export const rtDetrFields = {
  ...labels,
  layer_norm_eps: epsilon.default(1e-5),
  batch_norm_eps: epsilon.default(1e-5),
  use_timm_backbone: z.literal(false, 'backbones of timm are not known').nullish(),
  backbone: z.null('backbones by name are not known').optional(),
  backbone_config: backbone
    .nullish()
    .transform((given) => given ?? backbone.parse({ model_type: 'rt_detr_resnet', out_indices: [2, 3, 4] })),
  encoder_hidden_dim: size.multipleOf(4).default(256),
  encoder_in_channels: few.default([512, 1024, 2048]),
  encoder_layers: z.int().min(0).max(1, 'Python has no second layer').default(1),
  encoder_ffn_dim: size.default(1024),
  encoder_attention_heads: size.default(8),
  encode_proj_layers: z.array(z.int().min(0)).max(16).default([2]),
  positional_encoding_temperature: z.number().min(1).max(1e9).default(10_000),
  encoder_activation_function: z.string().default('gelu'),
  activation_function: activation,
  eval_size: z.null('Python has no places for images of one size').optional(),
  normalize_before: z.literal(false, 'norms before attention are not known').default(false),
  hidden_expansion: z.number().min(0.01).max(64).default(1),
  d_model: size.default(256),
  num_queries: size.default(300),
  decoder_in_channels: few.default([256, 256, 256]),
  decoder_ffn_dim: size.default(1024),
  num_feature_levels: size.default(3),
  decoder_n_points: pointCount.default(4),
  decoder_layers: layers.min(1).default(6),
  decoder_attention_heads: size.default(8),
  decoder_activation_function: z.string().default('relu'),
  learn_initial_query: z.literal(false, 'learned queries are not known').default(false),
};

const fields = z.object(rtDetrFields);
export type RtDetrConfig = z.output<typeof fields> & { decoder_offset_scale?: number };
/** What its encoder and that of D-FINE read. */
export type EncoderConfig = Omit<RtDetrConfig, 'decoder_n_points'>;

/** Python reads as many images of the backbone as of the encoder, and as the decoder looks at. */
export function sameLevels(c: EncoderConfig & { decoder_n_levels?: number }, context: z.RefinementCtx): void {
  const count = c.encoder_in_channels.length;
  const others = [c.decoder_in_channels.length, c.num_feature_levels, c.decoder_n_levels ?? count];
  const refuse = (path: string, message: string) =>
    context.addIssue({ code: 'custom', message, path: [path] });
  if (others.some((other) => other !== count))
    refuse('num_feature_levels', 'encoder and decoder read another number of images');
  if (c.encode_proj_layers.some((level) => level >= count))
    refuse('encode_proj_layers', 'there is no such image');
}

const offsets = {
  decoder_offset_scale: z.number().min(0).max(1024).default(0.5),
  decoder_method: z.literal('default', 'places between cells only are known').default('default'),
};

export const rtDetrConfig = fields.superRefine(sameLevels);
export const rtDetrV2Config = z
  .object({
    ...rtDetrFields,
    decoder_n_levels: size.default(3),
    ...offsets,
  })
  .superRefine(sameLevels);

const dFineBackbone = { model_type: 'hgnet_v2', out_indices: [2, 3, 4] };

/** D-FINE's: boxes are moved by what bins of distances say. */
export const dFineConfig = z
  .object({
    ...{ ...rtDetrFields, ...offsets },
    backbone_config: backbone.nullish().transform((given) => given ?? backbone.parse(dFineBackbone)),
    decoder_n_points: z.union([pointCount, z.array(pointCount).min(1).max(16)]).default(4),
    eval_idx: z.int().default(-1),
    max_num_bins: z.int().min(4).max(1024).multipleOf(2).default(32),
    depth_mult: z.number().min(0).max(64).default(1),
    top_prob_values: z.int().min(1).max(1024).default(4),
    lqe_hidden_dim: size.default(64),
    lqe_layers: z.int().min(1).max(64).default(2),
  })
  .superRefine(sameLevels)
  .superRefine((c, context) => {
    const { decoder_n_points: points, num_feature_levels: levels } = c;
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', message, path: [path] });
    if (typeof points !== 'number' && points.length !== levels)
      refuse('decoder_n_points', 'num_feature_levels is another number');
    if (c.eval_idx !== -1 && c.eval_idx !== c.decoder_layers - 1)
      refuse('eval_idx', 'answers of a layer before the last one are not known');
  });
export type DFineConfig = z.output<typeof dFineConfig>;
