import * as z from 'zod';
import { deepseekConfig, deepseekModel, longScale } from '../bases/decoder/deepseek-decoder.js';
import { llamaConfig, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { llama4Growth } from '../bases/decoder/llama4-growth.js';
import { type At, count, grouped, ofBestGroups, times, top } from '../bases/decoder/routed-experts.js';
import { size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { latentHeadWidth, rank } from '../layers/latent-attention.js';
import { linear } from '../layers/linear.js';
import type { Choices } from '../layers/moe.js';
import { LEAST_SUM, sharesOf } from '../layers/sigmoid-router.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** What Python takes where a file says nothing of rope. */
const SCALING = {
  ...{ type: 'yarn', factor: 128, original_max_position_embeddings: 8192, beta_fast: 32, beta_slow: 1 },
  ...{ mscale_all_dim: 1, mscale: 1, llama_4_scaling_beta: 0.1 },
};

const config = z.object({
  ...deepseekConfig,
  ...usualSizes({ vocabulary: 131_072, width: 4096, inner: 12_288, layers: 36, heads: 32 }),
  ...{ num_key_value_heads: size.nullable().default(32), max_position_embeddings: size.default(1_048_576) },
  rope_scaling: llamaConfig.rope_scaling.transform((given) => given ?? SCALING),
  partial_rotary_factor: z.number().positive().max(1).nullish(),
  pad_token_id: z.int().nullable().default(11),
  ...{ kv_lora_rank: rank.default(256), q_lora_rank: rank.nullable().default(1024) },
  ...{ qk_nope_head_dim: rank.default(64), v_head_dim: rank.default(128) },
  ...{ n_shared_experts: count.default(1), n_routed_experts: count.default(128) },
  ...{ moe_intermediate_size: size.default(2048), num_experts_per_tok: count.default(4) },
  ...{ n_group: count.nullable().default(1), topk_group: count.nullable().default(1) },
  ...{ norm_topk_prob: z.boolean().default(true), rope_interleave: z.boolean().default(true) },
});
type Config = z.output<typeof config>;

/** The softmax says who computes, of the best groups; the two best of a group speak for it. */
function choose(g: GraphWriter, tokens: Value, at: At, c: Config): Choices {
  const [width, experts, chosen] = [c.hidden_size, c.n_routed_experts, c.num_experts_per_tok];
  const [groups, kept] = [c.n_group ?? 1, c.topk_group ?? 1];
  if (experts < 2 * groups)
    throw new GraphError('config.json: n_group leaves groups of fewer than two experts');
  const logits = linear(g, tokens, at('mlp.gate'), { from: width, to: experts, bias: false, isExact: true });
  const scores = g.node('Softmax', [logits], { axis: -1 });
  const byGroup = grouped(g, scores, { experts, groups });
  const ofGroups = g.node('ReduceSum', [top(g, byGroup, 2, 2)[0], g.ints([2])], { keepdims: 0 });
  const left = ofBestGroups(g, { scores: byGroup, ofGroups, experts, groups, kept });
  const which = top(g, left, chosen, 1)[1];
  const weights = sharesOf(g, scores, which, { epsilon: c.norm_topk_prob && LEAST_SUM });
  return { experts, which, weights: times(g, weights, c.routed_scaling_factor) };
}

/** DeepSeek's attention, whose queries grow with their positions, and experts of a softmax. modeling_mistral4.py */
export const mistral4 = defineFamily({
  modelTypes: ['mistral4'],
  memory: { headWidth: latentHeadWidth },
  config,
  ...llamaLike<Config>(({ partial_rotary_factor: turned, ...c }) => {
    const whole = c.qk_nope_head_dim + c.qk_rope_head_dim;
    if (turned && Math.trunc(whole * turned) !== c.qk_rope_head_dim)
      throw new GraphError('config.json: partial_rotary_factor is not the part of qk_rope_head_dim');
    return deepseekModel(c, {
      ...{ scale: longScale(c), interleaved: c.rope_interleave, feedForwardBias: false },
      queryGrowth: llama4Growth(c.rope_scaling),
      choose: (g, tokens, at) => choose(g, tokens, at, { ...c, partial_rotary_factor: turned }),
    });
  }),
});
