import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { type Choices, expertsSum, overTokens, softmaxChoices } from '../../blocks/experts.js';
import { gatedFeedForward } from '../../blocks/gated-feed-forward.js';
import { latentAttention, latentConfig, latentHeadWidth } from '../../blocks/latent-attention.js';
import { linear } from '../../blocks/linear.js';
import { GraphError } from '../../errors.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { size } from '../config.js';
import { llamaConfig, llamaSizes } from './config.js';
import { type LlamaLike, llamaLike } from './llama-like.js';

const count = z.int().min(1).max(1024);

const deepseekConfig = {
  ...llamaConfig,
  ...latentConfig,
  n_shared_experts: count,
  moe_intermediate_size: size,
  n_routed_experts: count,
  num_experts_per_tok: count,
  first_k_dense_replace: z.int().min(0).default(0),
  routed_scaling_factor: z.number().default(1),
  ...{ n_group: count.nullable().default(null), topk_group: count.nullable().default(null) },
};
type Deepseek = z.output<z.ZodObject<typeof deepseekConfig>>;

type At = (name: string) => string;

interface Family {
  /** Of scores, beside 1 / sqrt(width of queries). */
  scale: number;
  interleaved: boolean;
  feedForwardBias: boolean;
  choose(g: GraphWriter, tokens: Value, at: At): Choices;
}

function deepseekModel(c: Deepseek, family: Family): LlamaLike {
  const heads = c.num_attention_heads;
  if ((c.num_key_value_heads ?? heads) !== heads)
    throw new GraphError('config.json: num_key_value_heads other than num_attention_heads are not known');
  const { hidden_size: width, hidden_act: act } = c;
  const bias = c.attention_bias === true;
  const scale = (c.qk_nope_head_dim + c.qk_rope_head_dim) ** -0.5 * family.scale;
  const gated = { width, act, bias: family.feedForwardBias };
  return {
    ...llamaSizes({ ...c, head_dim: latentHeadWidth(c) }),
    keyHeads: heads,
    bias: { feedForward: family.feedForwardBias },
    attend: (g, x, inputs, { layer, at }) =>
      latentAttention(g, x, inputs, {
        ...{ ...c, layer, width, heads, bias, scale, rotary: c, interleaved: family.interleaved },
        at: (name) => at(`self_attn.${name}`),
      }),
    feedForward(g, x, at, layer) {
      if (layer < c.first_k_dense_replace) return undefined;
      const inner = c.moe_intermediate_size;
      const one = (fed: Value, name: string, size: number) =>
        gatedFeedForward(g, fed, (part) => at(`mlp.${name}.${part}`), { ...gated, inner: size });
      const mixed = overTokens(g, x, width, (tokens) =>
        expertsSum(g, tokens, family.choose(g, tokens, at), {
          width,
          compute: (fed, expert) => one(fed, `experts.${expert}`, inner),
        }),
      );
      return g.node('Add', [mixed, one(x, 'shared_experts', inner * c.n_shared_experts)]);
    },
  };
}

/** float32 [tokens, groups, experts of a group] of [tokens, experts]. @throws GraphError where they don't part evenly */
function grouped(
  g: GraphWriter,
  scores: Value,
  { experts, groups }: { experts: number; groups: number },
): Value {
  if (experts % groups === 0) return g.node('Reshape', [scores, g.ints([-1, groups, experts / groups])]);
  throw new GraphError(`config.json: ${experts} experts can't be parted into ${groups} groups`);
}

interface Best {
  /** float32 [tokens, groups, experts of a group] */
  scores: Value;
  /** float32 [tokens, groups] */
  ofGroups: Value;
  experts: number;
  groups: number;
  kept: number;
}

/** The scores [tokens, experts] of the best groups; those of others are zero. */
function ofBestGroups(g: GraphWriter, { scores, ofGroups, experts, groups, kept }: Best): Value {
  const which = top(g, ofGroups, kept, 1)[1];
  const hot = g.node('OneHot', [which, g.ints([groups], []), g.floats([0, 1])]);
  const isBest = g.node('ReduceMax', [hot, g.ints([1])], { keepdims: 0 });
  const left = g.node('Mul', [scores, g.node('Unsqueeze', [isBest, g.ints([2])])]);
  return g.node('Reshape', [left, g.ints([-1, experts])]);
}

const top = (g: GraphWriter, x: Value, k: number, axis: number): [Value, Value] =>
  g.nodes('TopK', [x, g.ints([k])], { outputs: 2, attributes: { axis } }) as [Value, Value];

const times = (g: GraphWriter, x: Value, factor: number): Value => g.node('Mul', [x, g.scalar(factor)]);

const v2Config = z.object({
  ...deepseekConfig,
  n_shared_experts: count.default(2),
  n_routed_experts: count.default(64),
  moe_intermediate_size: size.default(1407),
  mlp_bias: z.boolean().default(false),
  topk_method: z.enum(['greedy', 'group_limited_greedy']).default('greedy'),
});
type V2 = z.output<typeof v2Config>;

/** The softmax says who computes, over all experts or those of the best groups; shares stay as they are. */
function chooseBySoftmax(g: GraphWriter, tokens: Value, at: At, c: V2): Choices {
  const [width, experts, chosen] = [c.hidden_size, c.n_routed_experts, c.num_experts_per_tok];
  const factor = c.routed_scaling_factor;
  if (c.topk_method === 'greedy') {
    const size = { width, experts, chosen, normalized: false };
    const found = softmaxChoices(g, tokens, at('mlp.gate'), size);
    return { ...found, weights: times(g, found.weights, factor) };
  }
  if (c.n_group === null || c.topk_group === null)
    throw new GraphError('config.json: n_group and topk_group are needed for group_limited_greedy');
  const logits = linear(g, tokens, at('mlp.gate'), { from: width, to: experts, bias: false });
  const size = { experts, groups: c.n_group, kept: c.topk_group };
  const scores = grouped(g, g.node('Softmax', [logits], { axis: -1 }), size);
  const ofGroups = g.node('ReduceMax', [scores, g.ints([2])], { keepdims: 0 });
  const [weights, which] = top(g, ofBestGroups(g, { scores, ofGroups, ...size }), chosen, 1);
  return { experts, which, weights: times(g, weights, factor) };
}

/** modeling_deepseek_v2.py */
export const deepseekV2 = defineArchitecture({
  modelTypes: ['deepseek_v2'],
  config: v2Config,
  ...llamaLike<V2>((c) =>
    deepseekModel(c, {
      ...{ scale: 1, interleaved: true, feedForwardBias: c.mlp_bias },
      choose: (g, tokens, at) => chooseBySoftmax(g, tokens, at, c),
    }),
  ),
});

const v3Config = z.object({
  ...deepseekConfig,
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

/** What keeps shares from being divided by zero. */
const LEAST = 1e-20;

/** Sigmoids and a correction say who computes; the sigmoids alone are the shares. */
function chooseBySigmoid(g: GraphWriter, tokens: Value, at: At, c: V3): Choices {
  const [experts, groups] = [c.n_routed_experts, c.n_group];
  if (experts < 2 * groups)
    throw new GraphError('config.json: n_group leaves groups of fewer than two experts');
  const logits = linear(g, tokens, at('mlp.gate'), { from: c.hidden_size, to: experts, bias: false });
  const scores = g.node('Sigmoid', [logits]);
  const moved = g.node('Add', [scores, g.weight(at('mlp.gate.e_score_correction_bias'), [experts])]);
  const byGroup = grouped(g, moved, { experts, groups });
  const ofGroups = g.node('ReduceSum', [top(g, byGroup, 2, 2)[0], g.ints([2])], { keepdims: 0 });
  const left = ofBestGroups(g, { scores: byGroup, ofGroups, experts, groups, kept: c.topk_group });
  const which = top(g, left, c.num_experts_per_tok, 1)[1];
  const shares = g.node('GatherElements', [scores, which], { axis: 1 });
  const total = () => g.node('ReduceSum', [shares, g.ints([1])], { keepdims: 1 });
  const normed = c.norm_topk_prob
    ? g.node('Div', [shares, g.node('Add', [total(), g.scalar(LEAST)])])
    : shares;
  return { experts, which, weights: times(g, normed, c.routed_scaling_factor) };
}

/** What long texts do to scores beside the angles of their positions ("yarn"). */
function longScale({ rope_scaling: scaling }: V3): number {
  const [all, factor] = [scaling?.['mscale_all_dim'], scaling?.['factor']].map(Number) as [number, number];
  if (!all || !(factor > 1)) return 1;
  return (0.1 * all * Math.log(factor) + 1) ** 2;
}

/** modeling_deepseek_v3.py */
export const deepseekV3 = defineArchitecture({
  modelTypes: ['deepseek_v3'],
  config: v3Config,
  ...llamaLike<V3>((c) =>
    deepseekModel(c, {
      ...{ scale: longScale(c), interleaved: c.rope_interleave, feedForwardBias: false },
      choose: (g, tokens, at) => chooseBySigmoid(g, tokens, at, c),
    }),
  ),
});
