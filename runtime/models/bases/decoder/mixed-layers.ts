import * as z from 'zod';
import { linear } from '../../layers/linear.js';
import { expertsFeedForward } from '../../layers/moe.js';
import { gatedFeedForward } from '../../layers/swiglu.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { size } from '../../config-fields.js';
import { llamaConfig, usualSizes } from './llama-config.js';

/** Mixtures of experts under the names that Qwen and OLMoE have for them. */

export const count = z.int().min(0).max(1024);

export const mixtureConfig = {
  num_experts_per_tok: z.int().min(1).max(1024).default(8),
  norm_topk_prob: z.boolean().default(false),
};

/** Which layers of Qwen's have experts; others have one gated layer. */
export const mixedLayers = {
  num_experts: count,
  decoder_sparse_step: z.int().min(1).default(1),
  mlp_only_layers: z.array(z.int()).nullish(),
};

interface Mixture {
  hidden_size: number;
  hidden_act: string;
  num_experts: number;
  num_experts_per_tok: number;
  norm_topk_prob: boolean;
}

/** @param inner width inside an expert */
export const mixture =
  (c: Mixture, inner: number) =>
  (g: GraphWriter, x: Value, at: (name: string) => string): Value =>
    expertsFeedForward(g, x, (name) => at(`mlp.${name}`), {
      ...{ width: c.hidden_size, inner, act: c.hidden_act },
      ...{ experts: c.num_experts, chosen: c.num_experts_per_tok, normalized: c.norm_topk_prob },
    });

/** Widths inside an expert, and inside what all tokens go through beside the experts. */
export const sharedExpertConfig = {
  moe_intermediate_size: size.default(512),
  shared_expert_intermediate_size: size.default(512),
};

interface Shared extends Mixture {
  moe_intermediate_size: number;
  shared_expert_intermediate_size: number;
}

/** Experts, and as much of what all tokens go through beside them as a gate of its own says. */
export function mixtureWithShared(c: Shared): ReturnType<typeof mixture> {
  const mixed = mixture(c, c.moe_intermediate_size);
  const { hidden_size: width, shared_expert_intermediate_size: inner, hidden_act: act } = c;
  return (g, x, at) => {
    const chosen = mixed(g, x, at);
    const found = gatedFeedForward(g, x, (name) => at(`mlp.shared_expert.${name}`), { width, inner, act });
    const gate = linear(g, x, at('mlp.shared_expert_gate'), {
      from: width,
      to: 1,
      bias: false,
      isExact: true,
    });
    return g.node('Add', [chosen, g.node('Mul', [g.node('Sigmoid', [gate]), found])]);
  };
}

export const qwen3MoeConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 151_936, width: 2048, inner: 6144, layers: 24, heads: 32 }),
  max_position_embeddings: size.default(32_768),
  ...mixtureConfig,
  num_key_value_heads: size.default(4),
  ...mixedLayers,
  num_experts: count.default(128),
  moe_intermediate_size: size.default(768),
  use_sliding_window: z.boolean().nullish(),
  sliding_window: z.int().min(1).nullable().default(4096),
});

export const isMixed = (c: z.output<z.ZodObject<typeof mixedLayers>>, layer: number): boolean =>
  c.num_experts > 0 && !c.mlp_only_layers?.includes(layer) && (layer + 1) % c.decoder_sparse_step === 0;
