import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { expertsFeedForward } from '../../blocks/experts.js';
import { gatedFeedForward } from '../../blocks/gated-feed-forward.js';
import { linear } from '../../blocks/linear.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { epsilon, size } from '../config.js';
import { llamaConfig, llamaSizes, usualSizes, windowConfig, windowOf } from './config.js';
import { llamaLike } from './llama-like.js';

/** Mixtures of experts under the names that Qwen and OLMoE have for them. */

const count = z.int().min(0).max(1024);
const mixtureConfig = {
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
const mixture =
  (c: Mixture, inner: number) =>
  (g: GraphWriter, x: Value, at: (name: string) => string): Value =>
    expertsFeedForward(g, x, (name) => at(`mlp.${name}`), {
      ...{ width: c.hidden_size, inner, act: c.hidden_act },
      ...{ experts: c.num_experts, chosen: c.num_experts_per_tok, normalized: c.norm_topk_prob },
    });

const qwen3MoeConfig = z.object({
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
type Qwen3Moe = z.output<typeof qwen3MoeConfig>;

export const isMixed = (c: z.output<z.ZodObject<typeof mixedLayers>>, layer: number): boolean =>
  c.num_experts > 0 && !c.mlp_only_layers?.includes(layer) && (layer + 1) % c.decoder_sparse_step === 0;

/** Layers without experts have one gated layer. modeling_qwen3_moe.py */
export const qwen3Moe = defineArchitecture({
  modelTypes: ['qwen3_moe'],
  config: qwen3MoeConfig,
  ...llamaLike<Qwen3Moe>((c) => {
    const mixed = mixture(c, c.moe_intermediate_size);
    return {
      ...llamaSizes(c),
      headNorms: 'head',
      window: () => (c.use_sliding_window ? (c.sliding_window ?? undefined) : undefined),
      feedForward: (g, x, at, layer) => (isMixed(c, layer) ? mixed(g, x, at) : undefined),
    };
  }),
});

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
export const qwen2Moe = defineArchitecture({
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

const olmoeConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 50_304, width: 2048, inner: 2048, layers: 16, heads: 16 }),
  max_position_embeddings: size.default(4096),
  ...mixtureConfig,
  rms_norm_eps: epsilon.default(1e-5),
  pad_token_id: z.int().nullable().default(1),
  num_experts: count.min(1).default(64),
  clip_qkv: z.number().positive().nullish(),
});

const flexConfig = z.object({
  ...llamaConfig,
  ...mixtureConfig,
  ...usualSizes({ vocabulary: 100_352, width: 4096, inner: 11_008, layers: 32, heads: 32 }),
  rope_theta: z.number().positive().default(500_000),
  max_position_embeddings: size.default(4096),
  pad_token_id: z.int().nullable().default(100_277),
  num_experts: count.min(1).default(7),
  num_experts_per_tok: z.int().min(1).max(1024).default(5),
});

/** OLMoE with OLMo 2's norms. modeling_flex_olmo.py */
export const flexOlmo = defineArchitecture({
  modelTypes: ['flex_olmo'],
  config: flexConfig,
  ...llamaLike<z.output<typeof flexConfig>>((c) => ({
    ...llamaSizes(c),
    ...{ norms: 'after', headNorms: 'whole' },
    feedForward: mixture(c, c.intermediate_size),
  })),
});

/** Norms of queries and keys go over all heads. modeling_olmoe.py */
export const olmoe = defineArchitecture({
  modelTypes: ['olmoe'],
  config: olmoeConfig,
  ...llamaLike<z.output<typeof olmoeConfig>>((c) => ({
    ...llamaSizes(c),
    headNorms: 'whole',
    clip: c.clip_qkv ?? undefined,
    feedForward: mixture(c, c.intermediate_size),
  })),
});
