import * as z from 'zod';
import { defineFamily, WHOLE_KEYS } from '../family.js';
import { latentHeadWidth } from '../layers/latent-attention.js';
import { type Choices, softmaxChoices } from '../layers/moe.js';
import { linear } from '../layers/linear.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { isOfVersion5, library, size } from '../config-fields.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { type At, count, grouped, ofBestGroups, times, top } from '../bases/decoder/routed-experts.js';
import { deepseekConfig, deepseekModel, longScale } from '../bases/decoder/deepseek-decoder.js';

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

/** Long texts change scores in version 5, and don't in version 4. modeling_deepseek_v2.py */
export const deepseekV2 = defineFamily({
  modelTypes: ['deepseek_v2'],
  memory: { headWidth: latentHeadWidth },
  limits: [WHOLE_KEYS, 'Scores are scaled as transformers 4.57.6 does it, without what "yarn" adds.'],
  config: v2Config,
  ...llamaLike<V2>((c) =>
    deepseekModel(c, {
      ...{ scale: isOfVersion5(c) ? longScale(c) : 1, interleaved: true, feedForwardBias: c.mlp_bias },
      choose: (g, tokens, at) => chooseBySoftmax(g, tokens, at, c),
    }),
  ),
});
