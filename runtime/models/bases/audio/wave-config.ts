import * as z from 'zod';
import { adapterConfig } from './adapters.js';
import { epsilon, labelCount, labels, layers, size } from '../../config-fields.js';

const few = z.int().min(1).max(4096);
const list = z.array(few).min(1).max(64);

/** What makes steps of raw samples, with wav2vec 2.0's defaults. */
export const waveStepsConfig = {
  hidden_size: size.default(768),
  layer_norm_eps: epsilon.default(1e-5),
  feat_extract_norm: z.enum(['group', 'layer']).default('group'),
  feat_extract_activation: z.string().default('gelu'),
  conv_dim: list.default([512, 512, 512, 512, 512, 512, 512]),
  conv_stride: list.default([5, 2, 2, 2, 2, 2, 2]),
  conv_kernel: list.default([10, 3, 3, 3, 3, 2, 2]),
  conv_bias: z.boolean().default(false),
  num_conv_pos_embeddings: few.default(128),
  num_conv_pos_embedding_groups: few.default(16),
};

export type WaveStepsConfig = z.output<z.ZodObject<typeof waveStepsConfig>>;

/** What configurations of networks over raw samples have in common, with wav2vec 2.0's defaults. */
export const waveConfig = {
  ...labels,
  ...waveStepsConfig,
  vocab_size: size.default(32),
  num_hidden_layers: layers.default(12),
  num_attention_heads: size.default(12),
  intermediate_size: size.default(3072),
  hidden_act: z.string().default('gelu'),
  do_stable_layer_norm: z.boolean().default(false),
  use_weighted_layer_sum: z.boolean().default(false),
  classifier_proj_size: size.default(256),
  // Of the language that the checkpoint is made for; those of others lie in files of their own.
  adapter_attn_dim: size.nullable().default(null),
  ...adapterConfig,
};

export type WaveConfig = z.output<z.ZodObject<typeof waveConfig>>;

/** Convolutions are listed one by one: as many strides and kernels as widths. */
export const isListed = (c: WaveStepsConfig): boolean =>
  c.conv_dim.length === c.conv_stride.length && c.conv_dim.length === c.conv_kernel.length;

export const LISTED = { message: 'conv_stride and conv_kernel have other lengths', path: ['conv_dim'] };

export const waveSizes = (c: WaveConfig) => ({
  width: c.hidden_size,
  inner: c.intermediate_size,
  heads: c.num_attention_heads,
  epsilon: c.layer_norm_eps,
  act: c.hidden_act,
  labels: labelCount(c),
});
