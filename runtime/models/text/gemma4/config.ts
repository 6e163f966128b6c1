import * as z from 'zod';
import { llamaConfig, usualSizes } from '../../bases/decoder/llama-config.js';
import { count } from '../../bases/decoder/routed-experts.js';
import { size } from '../../config-fields.js';
import { GraphError } from '../../writer/errors.js';

const own = z.object({ head_dim: size.optional(), num_key_value_heads: size.optional() }).strict();

/** What Python takes where a file says nothing of rope. */
const SCALING = { rope_type: 'proportional', partial_rotary_factor: 0.25 };

export const gemma4Config = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 262_144, width: 2304, inner: 9216, layers: 30, heads: 8 }),
  ...{ num_key_value_heads: size.default(4), head_dim: size.default(256) },
  hidden_activation: z.string().default('gelu_pytorch_tanh'),
  max_position_embeddings: size.default(131_072),
  ...{
    rope_theta: z.number().positive().default(1e6),
    rope_local_base_freq: z.number().positive().default(1e4),
  },
  rope_scaling: z.record(z.string(), z.unknown()).nullable().default(SCALING),
  rope_local_scaling: z.null('is not known for layers with a window').optional(),
  pad_token_id: z.int().nullable().default(0),
  tie_word_embeddings: z.boolean().default(true),
  sliding_window: z.int().min(1).default(512),
  layer_types: z.array(z.enum(['full_attention', 'sliding_attention'])).nullish(),
  final_logit_softcapping: z.number().positive().nullish(),
  // Of images alone, where it is not of all tokens.
  use_bidirectional_attention: z
    .literal('vision', 'tokens that see those behind them are not known')
    .nullish(),
  vocab_size_per_layer_input: size.default(262_144),
  hidden_size_per_layer_input: z.int().min(0).max(65_536).default(256),
  attention_k_eq_v: z.boolean().default(false),
  num_kv_shared_layers: z.int().min(0).default(0),
  use_double_wide_mlp: z.boolean().default(false),
  enable_moe_block: z.boolean().default(false),
  ...{ num_experts: count.nullish(), top_k_experts: count.nullish(), moe_intermediate_size: size.nullish() },
  per_layer_config: z.record(z.string().regex(/^\d{1,4}$/, 'is no number of a layer'), own).nullish(),
  // In place of the sizes of each layer.
  ...{ global_head_dim: size.default(512), num_global_key_value_heads: size.nullish() },
});
export type Gemma4Config = z.output<typeof gemma4Config>;

/** Of networks without a list, every sixth layer attends to all; the last one always does. */
const EVERY = 6;

export function isFull({ layer_types: types, num_hidden_layers: all }: Gemma4Config, layer: number): boolean {
  if (layer === (types?.length ?? all) - 1) return true;
  return types ? types[layer] === 'full_attention' : (layer + 1) % EVERY === 0;
}

/** Heads of a layer's keys, and the width of all its heads. @throws GraphError where layers of one kind differ in width */
export function headsOf(c: Gemma4Config, layer: number): { keyHeads: number; width: number } {
  const { per_layer_config: given, head_dim, num_key_value_heads } = c;
  const plain = { keyHeads: num_key_value_heads, width: head_dim };
  if (given) {
    const found = Object.entries(given).find(([name]) => Number(name) === layer)?.[1] ?? {};
    return { keyHeads: found.num_key_value_heads ?? plain.keyHeads, width: found.head_dim ?? plain.width };
  }
  if (!isFull(c, layer)) return plain;
  const keyHeads = (c.attention_k_eq_v ? c.num_global_key_value_heads : undefined) ?? plain.keyHeads;
  return { keyHeads, width: c.global_head_dim };
}

/** Layers with keys of their own. */
const ownLayers = (c: Gemma4Config): number => c.num_hidden_layers - c.num_kv_shared_layers;

export const sharesKeys = (c: Gemma4Config, layer: number): boolean => layer >= ownLayers(c);

/** The layer whose keys and values a layer reads: the last of its kind with ones of its own, for the last layers. */
export function keysOf(c: Gemma4Config, layer: number): number {
  if (!sharesKeys(c, layer)) return layer;
  for (let i = ownLayers(c) - 1; i >= 0; i--) if (isFull(c, i) === isFull(c, layer)) return i;
  throw new GraphError('config.json: num_kv_shared_layers leave a kind of layers without keys of its own');
}

export interface Layer {
  c: Gemma4Config;
  layer: number;
  at(name: string): string;
}

/** Layers that keep keys, in layers of the usual width: the last ones share those of others, and some have wider heads. */
export function keyLayers(c: Gemma4Config): number {
  const own = Array.from({ length: Math.max(0, ownLayers(c)) }, (_, i) => headsOf(c, i));
  const all = own.reduce((sum, { keyHeads, width }) => sum + keyHeads * width, 0);
  return all / (c.num_key_value_heads * c.head_dim);
}
