import * as z from 'zod';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { count, isDense, listedLayers } from '../bases/decoder/routed-experts.js';
import { eachLayerIn, epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { chosenFeedForward } from '../layers/moe.js';
import { LEAST_SUM, sigmoidChoices } from '../layers/sigmoid-router.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const config = z
  .object({
    ...llamaConfig,
    ...usualSizes({ vocabulary: 120_832, width: 4096, inner: 13_312, layers: 80, heads: 64 }),
    ...{ num_key_value_heads: size.nullable().default(8), head_dim: size.nullable().default(128) },
    ...{
      max_position_embeddings: size.default(131_072),
      rope_theta: z.number().positive().default(11_158_840),
    },
    ...{ rms_norm_eps: epsilon.default(1e-5), mlp_bias: z.boolean().default(false) },
    ...{ num_experts: count.default(192), num_experts_per_tok: count.default(8) },
    ...{ num_shared_experts: count.default(1), moe_intermediate_size: size.default(1536) },
    router_scaling_factor: z.number().default(2.826),
    ...listedLayers,
  })
  .refine(...eachLayerIn('mlp_layer_types'));
type Config = z.output<typeof config>;

function mixed(g: GraphWriter, x: Value, ofLayer: (name: string) => string, c: Config): Value {
  const { hidden_size: width, moe_intermediate_size: inner, hidden_act: act } = c;
  const at = (name: string) => ofLayer(`mlp.${name}`);
  const found = chosenFeedForward(g, x, at, {
    ...{ width, inner, act },
    choose: (tokens) =>
      sigmoidChoices(g, tokens, {
        ...{ gate: at('router.gate'), correction: at('expert_bias'), width },
        ...{ experts: c.num_experts, chosen: c.num_experts_per_tok },
        ...{ epsilon: LEAST_SUM, factor: c.router_scaling_factor },
      }),
  });
  const shared = gatedFeedForward(g, x, (part) => at(`shared_mlp.${part}`), {
    ...{ width, act, bias: c.mlp_bias, inner: inner * c.num_shared_experts },
  });
  return g.node('Add', [found, shared]);
}

/** Names in memory, which tools may leave in files. */
const IN_MEMORY = {
  ...{ 'mlp.router.gate.weight': 'mlp.gate.weight', 'mlp.expert_bias': 'mlp.e_score_correction_bias' },
  ...Object.fromEntries(
    ['gate_proj', 'up_proj', 'down_proj']
      .flatMap((name) => [`${name}.weight`, `${name}.bias`])
      .map((name) => [`mlp.shared_mlp.${name}`, `mlp.shared_experts.${name}`]),
  ),
};

/** Norms of heads, experts behind the first layer. modeling_hy_v3.py */
export const hyV3 = defineFamily({
  modelTypes: ['hy_v3'],
  config,
  older: IN_MEMORY,
  ...llamaLike<Config>((c) => {
    const sizes = llamaSizes(c);
    return {
      ...{ ...sizes, headNorms: 'head', bias: { ...sizes.bias, feedForward: c.mlp_bias } },
      feedForward: (g, x, at, layer) => (isDense(c, layer) ? undefined : mixed(g, x, at, c)),
    };
  }),
});
