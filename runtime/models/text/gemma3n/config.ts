import * as z from 'zod';
import { GraphError } from '../../writer/errors.js';
import { size } from '../../config-fields.js';
import { llamaConfig, usualSizes, windowConfig } from '../../bases/decoder/llama-config.js';

const count = z.int().min(1).max(64);

export const config = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 262_400, width: 2048, inner: 16_384, layers: 35, heads: 8 }),
  ...windowConfig,
  intermediate_size: z.union([size, z.array(size)]).default(16_384),
  num_key_value_heads: size.default(2),
  head_dim: size.default(256),
  sliding_window: z.int().min(1).default(512),
  hidden_activation: z.string().default('gelu_pytorch_tanh'),
  max_position_embeddings: size.default(32_768),
  rope_theta: z.number().positive().default(1e6),
  rope_local_base_freq: z.number().positive().default(1e4),
  pad_token_id: z.int().nullable().default(0),
  tie_word_embeddings: z.boolean().default(true),
  final_logit_softcapping: z.number().positive().nullable().default(30),
  vocab_size_per_layer_input: size.default(262_144),
  hidden_size_per_layer_input: size.default(256),
  num_kv_shared_layers: z.int().min(0).default(15),
  ...{ altup_num_inputs: count.default(4), altup_active_idx: z.int().min(0).default(0) },
  ...{
    altup_coef_clip: z.number().positive().nullable().default(120),
    altup_correct_scale: z.boolean().default(true),
  },
  laurel_rank: size.default(64),
  activation_sparsity_pattern: z.array(z.number().min(0).lt(1)).nullish(),
});
export type Config = z.output<typeof config>;

const EVERY = 5;
/** Of networks of more layers, as many begin with gates of which few stay open. */
const SPARSE_LAYERS = 10;

export function isFull({ layer_types: types }: Config, layer: number): boolean {
  return types ? types[layer] === 'full_attention' : (layer + 1) % EVERY === 0;
}

/** The layer whose keys and values a layer reads: the last of its kind with ones of its own, for the last layers. */
export function keysOf(c: Config, layer: number): number {
  const own = c.num_hidden_layers - c.num_kv_shared_layers;
  if (own <= 0 || layer < own) return layer;
  for (let i = own - 1; i >= 0; i--) if (isFull(c, i) === isFull(c, layer)) return i;
  throw new GraphError('config.json: num_kv_shared_layers leave a kind of layers without keys of its own');
}

export function sparsityOf(
  { activation_sparsity_pattern: given, num_hidden_layers: all }: Config,
  layer: number,
): number {
  if (given) return given[layer] ?? 0;
  return all > SPARSE_LAYERS && layer < SPARSE_LAYERS ? 0.95 : 0;
}

export interface Layer {
  c: Config;
  layer: number;
  at(name: string): string;
}
