import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { epsilon, size } from '../config.js';
import { llamaConfig, llamaSizes, usualSizes, windowConfig, windowOf } from './config.js';
import { llamaLike } from './llama-like.js';
import { chooseBySigmoid, count, routedConfig, routedFeedForward, sigmoidConfig } from './routed-experts.js';

/** Decoders with usual attention and DeepSeek 3's mixtures. */

const glmConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 151_552, width: 4096, inner: 10_944, layers: 46, heads: 96 }),
  ...routedConfig,
  ...sigmoidConfig,
  partial_rotary_factor: z.number().positive().max(1).default(0.5),
  num_key_value_heads: size.nullable().default(8),
  max_position_embeddings: size.default(131_072),
  rms_norm_eps: epsilon.default(1e-5),
  moe_intermediate_size: size.default(1408),
  num_experts_per_tok: count.default(8),
  n_shared_experts: count.default(1),
  n_routed_experts: count.default(128),
  first_k_dense_replace: z.int().min(0).default(1),
  use_qk_norm: z.boolean().default(false),
});

/** modeling_glm4_moe.py */
export const glm4Moe = defineArchitecture({
  modelTypes: ['glm4_moe'],
  config: glmConfig,
  ...llamaLike<z.output<typeof glmConfig>>((c) => ({
    ...llamaSizes(c),
    bias: { projections: c.attention_bias === true },
    ...(c.use_qk_norm && { headNorms: 'head' }),
    feedForward: routedFeedForward(c, {
      ...{ feedForwardBias: false, choose: (g, tokens, at) => chooseBySigmoid(g, tokens, at, c) },
    }),
  })),
});

const dotsConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 152_064, width: 4608, inner: 10_944, layers: 62, heads: 32 }),
  ...routedConfig,
  ...sigmoidConfig,
  ...windowConfig,
  num_key_value_heads: size.nullable().default(32),
  moe_intermediate_size: size.default(1408),
  norm_topk_prob: z.boolean().default(false),
  sliding_window: z.int().min(1).nullable().default(4096),
  max_window_layers: z.int().min(0).default(62),
});

/** modeling_dots1.py */
export const dots1 = defineArchitecture({
  modelTypes: ['dots1'],
  config: dotsConfig,
  ...llamaLike<z.output<typeof dotsConfig>>((c) => ({
    ...llamaSizes(c),
    headNorms: 'head',
    window: windowOf(c, (layer) => layer >= c.max_window_layers),
    feedForward: routedFeedForward(c, {
      ...{ feedForwardBias: false, choose: (g, tokens, at) => chooseBySigmoid(g, tokens, at, c) },
    }),
  })),
});
