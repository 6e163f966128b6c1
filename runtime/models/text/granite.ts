import * as z from 'zod';
import { defineFamily } from '../family.js';
import { softmaxChoices, stackedFeedForward } from '../layers/moe.js';
import { gatedHalves } from '../layers/swiglu.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { llamaConfig, llamaSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

/** Llama with factors, one gated layer or many. */

const factor = z.number().default(1);

const factors = {
  ...{ embedding_multiplier: factor, logits_scaling: factor },
  ...{ residual_multiplier: factor, attention_multiplier: factor },
};

export const graniteConfig = z.object({ ...llamaConfig, ...factors, mlp_bias: z.boolean().default(false) });

const scaledSizes = (c: z.output<z.ZodObject<typeof llamaConfig & typeof factors>>) => ({
  ...llamaSizes(c),
  scale: c.attention_multiplier,
  embedScale: c.embedding_multiplier,
  residualScale: c.residual_multiplier,
  scoresScale: 1 / c.logits_scaling,
});

type Granite = z.output<typeof graniteConfig>;

export function graniteOf(c: Granite) {
  const sizes = scaledSizes(c);
  return { ...sizes, bias: { ...sizes.bias, feedForward: c.mlp_bias } };
}

/** modeling_granite.py */
export const granite = defineFamily({
  modelTypes: ['granite'],
  config: graniteConfig,
  ...llamaLike<Granite>(graniteOf),
});

export const mixtureConfig = z.object({
  ...llamaConfig,
  ...factors,
  head_dim: z.null('heads of other widths than hidden_size / num_attention_heads are not known').optional(),
  num_local_experts: z.int().min(0).max(1024).default(8),
  num_experts_per_tok: z.int().min(0).max(1024).default(2),
  shared_intermediate_size: z.int().min(0).max(65536).default(0),
  position_embedding_type: z.string().nullable().default('rope'),
});

export type Mixture = z.output<typeof mixtureConfig>;

type At = (name: string) => string;

/** Names in memory of version 5, which files of newer families have. */
export const EXPERT_STACKS = {
  'router.layer.weight': 'router.weight',
  'block_sparse_moe.input_linear.weight': 'block_sparse_moe.experts.gate_up_proj',
  'block_sparse_moe.output_linear.weight': 'block_sparse_moe.experts.down_proj',
};

/** Experts whose matrices are stored as one, [experts, rows, columns]. */
function experts(g: GraphWriter, x: Value, at: At, c: Mixture): Value {
  const { hidden_size: width, intermediate_size: inner, hidden_act: act, num_local_experts: count } = c;
  const size = { width, experts: count, chosen: c.num_experts_per_tok };
  return stackedFeedForward(g, x, {
    ...{ width, inner, act, choose: (tokens) => softmaxChoices(g, tokens, at('router.layer'), size) },
    ...{ both: at('input_linear.weight'), down: at('output_linear.weight') },
  });
}

/** The experts, a layer that all tokens go through, or the sum of both. */
function feedForward(g: GraphWriter, x: Value, at: At, c: Mixture): Value {
  const { hidden_size: width, shared_intermediate_size: inner, hidden_act: act } = c;
  const names = { both: at('shared_mlp.input_linear'), down: at('shared_mlp.output_linear') };
  const shared = () => gatedHalves(g, x, names, { width, inner, act, bias: false });
  const mixed = () => experts(g, x, (name) => at(`block_sparse_moe.${name}`), c);
  if (inner === 0) return mixed();
  return c.num_local_experts === 0 ? shared() : g.node('Add', [mixed(), shared()]);
}

export const mixtureOf = (c: Mixture) => ({
  ...scaledSizes(c),
  rotary: () => (c.position_embedding_type === 'rope' ? c : undefined),
  feedForward: (g: GraphWriter, x: Value, at: At) => feedForward(g, x, at, c),
});

export const hasExperts = {
  ...{ message: 'a mixture without experts is not known', path: ['num_local_experts'] },
};

export const choosesExperts = (c: Mixture) => c.num_local_experts === 0 || c.num_experts_per_tok > 0;

export const hasChoices = { ...{ message: 'no expert is chosen', path: ['num_experts_per_tok'] } };

/** Version 4 of transformers turns nothing then, version 5 goes on turning. */
const turns = {
  message: 'other than rope is read one way by transformers 4 and another by 5',
  path: ['position_embedding_type'],
};

export const expertConfig = mixtureConfig
  .refine((c) => c.position_embedding_type === 'rope', turns)
  .refine((c) => c.num_local_experts > 0, hasExperts)
  .refine(choosesExperts, hasChoices);
