import * as z from 'zod';
import { defineFamily } from '../family.js';
import { size } from '../config-fields.js';
import { llamaSizes, usualSizes, windowConfig, windowOf } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { count, mixtureWithShared, qwen3MoeConfig, isMixed } from '../bases/decoder/mixed-layers.js';

const qwen2MoeConfig = qwen3MoeConfig.extend({
  ...usualSizes({ vocabulary: 151_936, width: 2048, inner: 5632, layers: 24, heads: 16 }),
  num_key_value_heads: size.default(16),
  num_experts: count.default(60),
  num_experts_per_tok: z.int().min(1).max(1024).default(4),
  moe_intermediate_size: size.default(1408),
  shared_expert_intermediate_size: size.default(5632),
  layer_types: windowConfig.layer_types,
  qkv_bias: z.boolean().default(true),
});

/** modeling_qwen2_moe.py */
export const qwen2Moe = defineFamily({
  modelTypes: ['qwen2_moe'],
  config: qwen2MoeConfig,
  ...llamaLike<z.output<typeof qwen2MoeConfig>>((c) => {
    const mixed = mixtureWithShared(c);
    return {
      ...llamaSizes(c),
      bias: { projections: c.qkv_bias },
      window: windowOf({ ...c, sliding_window: c.use_sliding_window ? c.sliding_window : null }, () => true),
      feedForward: (g, x, at, layer) => (isMixed(c, layer) ? mixed(g, x, at) : undefined),
    };
  }),
});
