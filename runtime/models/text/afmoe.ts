import * as z from 'zod';
import {
  llamaConfig,
  llamaSizes,
  usualSizes,
  windowConfig,
  windowOf,
} from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { count, routedFeedForward } from '../bases/decoder/routed-experts.js';
import { epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { LEAST_SUM, sigmoidChoices } from '../layers/sigmoid-router.js';

const config = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 200_192, width: 2048, inner: 6144, layers: 32, heads: 16 }),
  ...{ head_dim: size.nullable().default(128), max_position_embeddings: size.default(16_384) },
  rms_norm_eps: epsilon.default(1e-5),
  ...windowConfig,
  sliding_window: z.int().min(1).nullable().default(1024),
  global_attn_every_n_layers: z.int().min(1).default(4),
  ...{ num_experts: count.default(64), num_experts_per_tok: count.default(6) },
  ...{ num_shared_experts: count.default(2), moe_intermediate_size: size.default(1408) },
  ...{ num_dense_layers: z.int().min(0).default(1), route_scale: z.number().default(1) },
  mup_enabled: z.boolean().nullable().default(false),
});
type Config = z.output<typeof config>;

/** Norms on both sides, a gate on attention; layers that see everything don't turn their heads. modeling_afmoe.py */
export const afmoe = defineFamily({
  modelTypes: ['afmoe'],
  config,
  ...llamaLike<Config>((c) => {
    const slides = (layer: number) =>
      c.layer_types
        ? c.layer_types[layer] === 'sliding_attention'
        : (layer + 1) % c.global_attn_every_n_layers !== 0;
    const routed = {
      ...{ ...c, first_k_dense_replace: c.num_dense_layers, routed_scaling_factor: c.route_scale },
      ...{ n_routed_experts: c.num_experts, n_shared_experts: c.num_shared_experts },
    };
    return {
      ...llamaSizes(c),
      ...{ norms: 'around', normsBehind: ['post_attention_layernorm', 'post_mlp_layernorm'] },
      ...{ names: { feedForwardNorm: 'pre_mlp_layernorm' }, headNorms: 'head', gate: 'self_attn.gate_proj' },
      ...(c.mup_enabled && { embedScale: Math.sqrt(c.hidden_size) }),
      rotary: (layer) => (slides(layer) ? c : undefined),
      window: windowOf(c, slides),
      feedForward: routedFeedForward(routed, {
        feedForwardBias: false,
        choose: (g, tokens, at) =>
          sigmoidChoices(g, tokens, {
            ...{ gate: at('mlp.router.gate'), correction: at('mlp.expert_bias'), width: c.hidden_size },
            ...{ experts: c.num_experts, chosen: c.num_experts_per_tok },
            ...{ epsilon: LEAST_SUM, factor: c.route_scale },
          }),
      }),
    };
  }),
});
