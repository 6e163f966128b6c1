import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { type Choices, softmaxChoices } from '../../blocks/experts.js';
import { latentAttention, latentConfig, latentHeadWidth } from '../../blocks/latent-attention.js';
import { linear } from '../../blocks/linear.js';
import { GraphError } from '../../errors.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { isOfVersion5, library, size } from '../config.js';
import { llamaConfig, llamaSizes, usualSizes } from './config.js';
import { type LlamaLike, llamaLike } from './llama-like.js';
import {
  type At,
  chooseBySigmoid,
  count,
  grouped,
  ofBestGroups,
  routedConfig,
  type RoutedFamily,
  routedFeedForward,
  times,
  top,
} from './routed-experts.js';

const deepseekConfig = {
  ...llamaConfig,
  ...latentConfig,
  ...routedConfig,
  ...{ n_group: count.nullable().default(null), topk_group: count.nullable().default(null) },
};
type Deepseek = z.output<z.ZodObject<typeof deepseekConfig>>;

interface Family extends RoutedFamily {
  /** Of scores, beside 1 / sqrt(width of queries). */
  scale: number;
  interleaved: boolean;
}

function deepseekModel(c: Deepseek, family: Family): LlamaLike {
  const heads = c.num_attention_heads;
  if ((c.num_key_value_heads ?? heads) !== heads)
    throw new GraphError('config.json: num_key_value_heads other than num_attention_heads are not known');
  const width = c.hidden_size;
  const bias = c.attention_bias === true;
  const scale = (c.qk_nope_head_dim + c.qk_rope_head_dim) ** -0.5 * family.scale;
  return {
    ...llamaSizes({ ...c, head_dim: latentHeadWidth(c) }),
    keyHeads: heads,
    bias: { feedForward: family.feedForwardBias },
    attend: (g, x, inputs, { layer, at }) =>
      latentAttention(g, x, inputs, {
        ...{ ...c, layer, width, heads, bias, scale, rotary: c, interleaved: family.interleaved },
        at: (name) => at(`self_attn.${name}`),
      }),
    feedForward: routedFeedForward(c, family),
  };
}

const v2Config = z.object({
  ...deepseekConfig,
  ...library,
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
  const logits = linear(g, tokens, at('mlp.gate'), { from: width, to: experts, bias: false, isExact: true });
  const size = { experts, groups: c.n_group, kept: c.topk_group };
  const scores = grouped(g, g.node('Softmax', [logits], { axis: -1 }), size);
  const ofGroups = g.node('ReduceMax', [scores, g.ints([2])], { keepdims: 0 });
  const [weights, which] = top(g, ofBestGroups(g, { scores, ofGroups, ...size }), chosen, 1);
  return { experts, which, weights: times(g, weights, factor) };
}

/** What long texts do to scores beside the angles of their positions ("yarn"). */
function longScale({ rope_scaling: scaling }: Deepseek): number {
  const [all, factor] = [scaling?.['mscale_all_dim'], scaling?.['factor']].map(Number) as [number, number];
  if (!all || !(factor > 1)) return 1;
  return (0.1 * all * Math.log(factor) + 1) ** 2;
}

/** Long texts change scores in version 5, and don't in version 4. modeling_deepseek_v2.py */
export const deepseekV2 = defineArchitecture({
  modelTypes: ['deepseek_v2'],
  config: v2Config,
  ...llamaLike<V2>((c) =>
    deepseekModel(c, {
      ...{ scale: isOfVersion5(c) ? longScale(c) : 1, interleaved: true, feedForwardBias: c.mlp_bias },
      choose: (g, tokens, at) => chooseBySoftmax(g, tokens, at, c),
    }),
  ),
});

const v3Config = z.object({
  ...deepseekConfig,
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
