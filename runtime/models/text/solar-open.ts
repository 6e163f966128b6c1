import * as z from 'zod';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import {
  sigmoidExperts,
  count,
  routedConfig,
  routedFeedForward,
  sigmoidConfig,
} from '../bases/decoder/routed-experts.js';
import { epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';

const config = z
  .object({
    ...llamaConfig,
    ...usualSizes({ vocabulary: 196_608, width: 4096, inner: 1280, layers: 48, heads: 64 }),
    ...routedConfig,
    ...sigmoidConfig,
    rope_theta: z.number().positive().default(1e6),
    num_key_value_heads: size.nullable().default(8),
    head_dim: size.nullable().default(128),
    max_position_embeddings: size.default(131_072),
    rms_norm_eps: epsilon.default(1e-5),
    moe_intermediate_size: size.default(1280),
    num_experts_per_tok: count.default(8),
    n_shared_experts: count.default(1),
    n_routed_experts: count.default(128),
  })
  .omit({ intermediate_size: true, first_k_dense_replace: true });

/** Llama with the experts of GLM 4 in all layers. modeling_solar_open.py */
export const solarOpen = defineFamily({
  modelTypes: ['solar_open'],
  config,
  ...llamaLike<z.output<typeof config>>((c) => ({
    ...llamaSizes({ ...c, intermediate_size: c.moe_intermediate_size }),
    bias: { projections: c.attention_bias === true },
    feedForward: routedFeedForward(
      { ...c, first_k_dense_replace: 0 },
      sigmoidExperts({ ...c, shut: c.n_group > 1 }),
    ),
  })),
});
