import * as z from 'zod';
import { defineFamily } from '../family.js';
import { epsilon, library, size } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { type LlamaLike, llamaLike } from '../bases/decoder/llama-decoder.js';
import {
  sigmoidExperts,
  shutsGroups,
  count,
  routedConfig,
  routedFeedForward,
  sigmoidConfig,
} from '../bases/decoder/routed-experts.js';

/** Decoders with usual attention and DeepSeek 3's mixtures. */

export const glmMoeFields = {
  ...llamaConfig,
  ...library,
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
};

/** Without norms of heads. */
export const glmMoeModel = (c: z.output<z.ZodObject<typeof glmMoeFields>>): LlamaLike => ({
  ...llamaSizes(c),
  bias: { projections: c.attention_bias === true },
  feedForward: routedFeedForward(c, sigmoidExperts({ ...c, shut: shutsGroups(c) })),
});

const glmConfig = z.object({ ...glmMoeFields, use_qk_norm: z.boolean().default(false) });

/** modeling_glm4_moe.py */
export const glm4Moe = defineFamily({
  modelTypes: ['glm4_moe'],
  config: glmConfig,
  ...llamaLike<z.output<typeof glmConfig>>((c) => ({
    ...glmMoeModel(c),
    ...(c.use_qk_norm && { headNorms: 'head' }),
  })),
});
