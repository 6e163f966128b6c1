import * as z from 'zod';
import { defineFamily, WHOLE_KEYS } from '../family.js';
import { latentHeadWidth } from '../layers/latent-attention.js';
import { library, size } from '../config-fields.js';
import { usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { sigmoidExperts, count, shutsGroups } from '../bases/decoder/routed-experts.js';
import { deepseekConfig, deepseekModel, longScale } from '../bases/decoder/deepseek-decoder.js';

const v3Config = z.object({
  ...deepseekConfig,
  ...library,
  ...usualSizes({ vocabulary: 129_280, width: 7168, inner: 18_432, layers: 61, heads: 128 }),
  num_key_value_heads: size.nullable().default(128),
  max_position_embeddings: size.default(4096),
  n_shared_experts: count.default(1),
  n_routed_experts: count.default(256),
  moe_intermediate_size: size.default(2048),
  num_experts_per_tok: count.default(8),
  first_k_dense_replace: z.int().min(0).default(3),
  routed_scaling_factor: z.number().default(2.5),
  ...{ n_group: count.default(8), topk_group: count.default(4) },
  norm_topk_prob: z.boolean().default(true),
  rope_interleave: z.boolean().default(true),
});

type V3 = z.output<typeof v3Config>;

/** modeling_deepseek_v3.py */
export const deepseekV3 = defineFamily({
  modelTypes: ['deepseek_v3'],
  readers: { messages: 'plain' },
  memory: { headWidth: latentHeadWidth },
  limits: [WHOLE_KEYS],
  config: v3Config,
  ...llamaLike<V3>((c) =>
    deepseekModel(c, {
      ...{ scale: longScale(c), interleaved: c.rope_interleave },
      ...sigmoidExperts({ ...c, shut: shutsGroups(c) }),
    }),
  ),
});
