import * as z from 'zod';
import { defineFamily } from '../family.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import { linear } from '../layers/linear.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { llamaSizes, usualSizes, windowConfig, windowOf } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { count, mixture, qwen3MoeConfig, isMixed } from '../bases/decoder/mixed-layers.js';

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

/** What all tokens go through beside the experts, as much of it as a gate of its own says. */
function sharedExpert(
  g: GraphWriter,
  x: Value,
  at: (name: string) => string,
  c: z.output<typeof qwen2MoeConfig>,
): Value {
  const { hidden_size: width, shared_expert_intermediate_size: inner, hidden_act: act } = c;
  const found = gatedFeedForward(g, x, (name) => at(`mlp.shared_expert.${name}`), { width, inner, act });
  const gate = linear(g, x, at('mlp.shared_expert_gate'), { from: width, to: 1, bias: false, isExact: true });
  return g.node('Mul', [g.node('Sigmoid', [gate]), found]);
}

/** modeling_qwen2_moe.py */
export const qwen2Moe = defineFamily({
  modelTypes: ['qwen2_moe'],
  config: qwen2MoeConfig,
  ...llamaLike<z.output<typeof qwen2MoeConfig>>((c) => {
    const mixed = mixture(c, c.moe_intermediate_size);
    return {
      ...llamaSizes(c),
      bias: { projections: c.qkv_bias },
      window: windowOf({ ...c, sliding_window: c.use_sliding_window ? c.sliding_window : null }, () => true),
      feedForward: (g, x, at, layer) =>
        isMixed(c, layer) ? g.node('Add', [mixed(g, x, at), sharedExpert(g, x, at, c)]) : undefined,
    };
  }),
});
