import * as z from 'zod';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { count } from '../bases/decoder/routed-experts.js';
import { eachLayerIn, epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { chosenFeedForward } from '../layers/moe.js';
import { sigmoidChoices } from '../layers/sigmoid-router.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { convolutional, EXPERT_NAMES } from './lfm2.js';

const config = z
  .object({
    ...llamaConfig,
    ...usualSizes({ vocabulary: 65_536, width: 2048, inner: 7168, layers: 32, heads: 32 }),
    ...{ num_key_value_heads: size.nullable().default(8), max_position_embeddings: size.default(128_000) },
    ...{ rope_theta: z.number().positive().default(1e6), norm_eps: epsilon.default(1e-5) },
    pad_token_id: z.int().nullable().default(0),
    ...{ tie_word_embeddings: z.boolean().default(true), tie_embedding: z.boolean().optional() },
    ...{ conv_bias: z.boolean().default(false), conv_L_cache: z.int().min(2).max(64).default(3) },
    layer_types: z.array(z.enum(['full_attention', 'conv'])),
    ...{ num_experts: count.default(32), num_experts_per_tok: count.default(4) },
    moe_intermediate_size: size.default(1792),
    num_dense_layers: z.int().min(0).default(2),
    ...{ use_expert_bias: z.boolean().default(true), norm_topk_prob: z.boolean().default(true) },
    routed_scaling_factor: z.number().default(1),
  })
  .refine(...eachLayerIn('layer_types'));
type Config = z.output<typeof config>;

/** Keeps shares from being divided by zero. */
const LEAST = 1e-6;

const LAYER = { act: 'silu', names: EXPERT_NAMES };

function mixed(g: GraphWriter, x: Value, at: (name: string) => string, c: Config): Value {
  const width = c.hidden_size;
  return chosenFeedForward(g, x, at, {
    ...{ ...LAYER, width, inner: c.moe_intermediate_size },
    choose: (tokens) =>
      sigmoidChoices(g, tokens, {
        ...{ gate: at('gate'), correction: c.use_expert_bias ? at('expert_bias') : undefined, width },
        ...{ experts: c.num_experts, chosen: c.num_experts_per_tok },
        epsilon: c.norm_topk_prob && LEAST,
        ...(c.routed_scaling_factor !== 1 && { factor: c.routed_scaling_factor }),
      }),
  });
}

/** LFM2 with experts behind its first layers. modeling_lfm2_moe.py */
export const lfm2Moe = defineFamily({
  modelTypes: ['lfm2_moe'],
  config,
  ...llamaLike<Config>((c) => ({
    ...llamaSizes(c),
    ...convolutional(c, (layer) => c.layer_types[layer] === 'full_attention'),
    tie: c.tie_embedding ?? c.tie_word_embeddings,
    feedForward: (g, x, at, layer) => {
      const named = (name: string) => at(`feed_forward.${name}`);
      return layer < c.num_dense_layers
        ? gatedFeedForward(g, x, named, { ...LAYER, width: c.hidden_size, inner: c.intermediate_size })
        : mixed(g, x, named, c);
    },
  })),
});
