import * as z from 'zod';
import { epsilon, labels, layers, size } from '../../config-fields.js';
import { channels, edges } from '../../bases/vision/vit-config.js';

const flag = z.boolean();
const kernel = z.int().min(1).max(64);
const widths = z.array(size).max(16);
const kernels = z.array(kernel).max(16).nullish();

/** What stands behind the encoder. */
const head = z.object({
  upsample_out_channels: widths.min(1),
  upsample_kernel_sizes: kernels,
  upsample_kernel_size: kernel.default(4),
  use_pixel_shuffle: flag.nullish(),
  conv_out_channels: widths,
  conv_kernel_sizes: kernels,
  conv_kernel_size: kernel.default(1),
});

export const sapiens2Config = z
  .object({
    ...labels,
    patch_size: edges.default([16, 16]),
    hidden_size: size.default(1024),
    intermediate_size: size.default(4096),
    num_hidden_layers: layers.default(24),
    num_attention_heads: size.default(16),
    hidden_act: z.string().default('silu'),
    rope_theta: z.number().min(1).max(1e9).default(100),
    num_channels: channels,
    query_bias: flag.default(true),
    key_bias: flag.default(true),
    value_bias: flag.default(true),
    proj_bias: flag.default(true),
    mlp_bias: flag.default(true),
    use_gated_mlp: flag.default(true),
    num_register_tokens: z.int().min(0).max(4096).default(8),
    rms_norm_eps: epsilon.default(1e-6),
    use_qk_norm: flag.default(true),
    num_key_value_heads_per_layer: z.array(size).max(1024).nullish(),
    num_key_value_attention_heads: size.default(8),
    num_first_full_attention_layers: layers.default(8),
    num_last_full_attention_layers: layers.default(8),
    head_config: head.nullish(),
  })
  .refine((c) => (c.num_key_value_heads_per_layer?.length ?? Infinity) >= c.num_hidden_layers, {
    ...{ message: 'leaves out layers', path: ['num_key_value_heads_per_layer'] },
  });

export type Sapiens2Config = z.output<typeof sapiens2Config>;
export type Sapiens2Head = z.output<typeof head>;

/** How many heads the keys and values of a layer have. */
export function keyHeadsOf(c: Sapiens2Config, layer: number): number {
  if (c.num_key_value_heads_per_layer) return c.num_key_value_heads_per_layer[layer]!;
  const isFirst = layer < c.num_first_full_attention_layers;
  const isLast = layer >= c.num_hidden_layers - c.num_last_full_attention_layers;
  return isFirst || isLast ? c.num_attention_heads : c.num_key_value_attention_heads;
}
