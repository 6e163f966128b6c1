import * as z from 'zod';
import { defineFamily } from '../family.js';
import { chosenFeedForward, type Choices } from '../layers/moe.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import { linear } from '../layers/linear.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { ernieConfig, ernieModel } from './ernie4-5.js';

const count = z.int().min(1).max(1024);

const config = ernieConfig.extend({
  ...usualSizes({ vocabulary: 103_424, width: 2560, inner: 12_288, layers: 28, heads: 20 }),
  num_key_value_heads: size.nullable().default(4),
  head_dim: size.nullish(),
  max_position_embeddings: size.default(131_072),
  moe_intermediate_size: size.default(1536),
  moe_k: count.default(6),
  moe_num_experts: count.default(64),
  moe_num_shared_experts: z.int().min(0).max(1024).default(2),
  moe_layer_start_index: z.int().min(0).default(1),
  moe_layer_end_index: z.int().min(-1).default(-1),
  moe_layer_interval: z.int().min(1).default(1),
  moe_norm_min: z.number().min(0).default(1e-12),
});
type Config = z.output<typeof config>;

type At = (name: string) => string;

/** The softmax and a correction say who computes; the softmax alone is the shares. */
function choose(g: GraphWriter, tokens: Value, at: At, c: Config): Choices {
  const experts = c.moe_num_experts;
  const logits = linear(g, tokens, at('gate'), {
    ...{ from: c.hidden_size, to: experts, bias: false, isExact: true },
  });
  const likely = g.node('Softmax', [logits], { axis: -1 });
  const moved = g.node('Add', [likely, g.weight(at('moe_statics.e_score_correction_bias'), [1, experts])]);
  const [, which] = g.nodes('TopK', [moved, g.ints([c.moe_k])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  const shares = g.node('GatherElements', [likely, which], { axis: 1 });
  const total = g.node('ReduceSum', [shares, g.ints([1])], { keepdims: 1 });
  return {
    experts,
    which,
    weights: g.node('Div', [shares, g.node('Max', [total, g.scalar(c.moe_norm_min)])]),
  };
}

function mixture(g: GraphWriter, x: Value, at: At, c: Config): Value {
  const { hidden_size: width, hidden_act: act, use_bias: bias, moe_intermediate_size: inner } = c;
  const size = { width, act, bias };
  const mixed = chosenFeedForward(g, x, at, { ...size, inner, choose: (tokens) => choose(g, tokens, at, c) });
  const count = c.moe_num_shared_experts;
  if (count === 0) return mixed;
  const named = (name: string) => at(`shared_experts.${name}`);
  return g.node('Add', [mixed, gatedFeedForward(g, x, named, { ...size, inner: inner * count })]);
}

/** modeling_ernie4_5_moe.py */
export const ernieMoe = defineFamily({
  modelTypes: ['ernie4_5_moe'],
  config,
  older: { 'mlp.moe_statics.e_score_correction_bias': 'mlp.gate.moe_statics.e_score_correction_bias' },
  ...llamaLike<Config>((c) => {
    const last = c.moe_layer_end_index === -1 ? c.num_hidden_layers - 1 : c.moe_layer_end_index;
    const isMixed = (layer: number) =>
      (layer + 1) % c.moe_layer_interval === 0 && layer >= c.moe_layer_start_index && layer <= last;
    return {
      ...ernieModel(c),
      scoresBias: c.use_bias,
      feedForward: (g, x, at, layer) =>
        isMixed(layer) ? mixture(g, x, (name) => at(`mlp.${name}`), c) : undefined,
    };
  }),
});
