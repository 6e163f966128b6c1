import * as z from 'zod';
import type { Edges } from '../../layers/patch-embed.js';
import { epsilon, labelCount, labels, layers, size } from '../../config-fields.js';

const edge = z
  .int()
  .min(1)
  .max(2 ** 14);

/** Edges of images or patches: one number, or height and width. */
export const edges = z
  .union([edge, z.tuple([edge, edge])])
  .transform((given): Edges => (typeof given === 'number' ? [given, given] : given));

export const channels = z.int().min(1).max(256).default(3);

/** A number for each stage of a network that narrows images step by step. */
export const stages = z
  .array(
    z
      .int()
      .min(1)
      .max(2 ** 16),
  )
  .min(1)
  .max(64);

/** What configurations of vision transformers have in common, with ViT's defaults. */
export const vitConfig = {
  ...labels,
  hidden_size: size.default(768),
  num_hidden_layers: layers.default(12),
  num_attention_heads: size.default(12),
  intermediate_size: size.default(3072),
  hidden_act: z.string().default('gelu'),
  layer_norm_eps: epsilon.default(1e-12),
  image_size: edges.default([224, 224]),
  patch_size: edges.default([16, 16]),
  num_channels: channels,
  qkv_bias: z.boolean().default(true),
};

export type VitConfig = z.output<z.ZodObject<typeof vitConfig>>;

export const vitSizes = (c: VitConfig) => ({
  width: c.hidden_size,
  inner: c.intermediate_size,
  heads: c.num_attention_heads,
  epsilon: c.layer_norm_eps,
  act: c.hidden_act,
  labels: labelCount(c),
});

/** Patches of a column and of a line of an image. */
export const gridSize = ([height, width]: Edges, [tall, wide]: Edges): Edges => [
  Math.floor(height / tall),
  Math.floor(width / wide),
];
