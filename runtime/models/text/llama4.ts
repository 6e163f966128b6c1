import * as z from 'zod';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { type LayerNames, llamaLike } from '../bases/decoder/llama-decoder.js';
import { count } from '../bases/decoder/routed-experts.js';
import { eachLayerIn, epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import type { DecoderInputs } from '../layers/decoder-inputs.js';
import { linear } from '../layers/linear.js';
import { type Choices, stackedFeedForward } from '../layers/moe.js';
import { plainHeadNorm } from '../layers/norm.js';
import { positionGrowth } from '../layers/position-growth.js';
import { type SelfAttention, selfAttention } from '../layers/self-attention.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const number = z.int().min(0).max(1024);

const config = z
  .object({
    ...llamaConfig,
    ...usualSizes({ vocabulary: 202_048, width: 5120, inner: 8192, layers: 48, heads: 40 }),
    ...{ num_key_value_heads: size.nullable().default(8), head_dim: size.nullable().default(128) },
    ...{ max_position_embeddings: size.default(131_072), rope_theta: z.number().positive().default(500_000) },
    ...{ rms_norm_eps: epsilon.default(1e-5), intermediate_size_mlp: size.default(16_384) },
    ...{ num_local_experts: count.default(16), num_experts_per_tok: count.default(1) },
    ...{ moe_layers: z.array(number).nullish(), interleave_moe_layer_step: z.int().min(1).default(1) },
    ...{ no_rope_layers: z.array(number).nullish(), no_rope_layer_interval: z.int().min(1).default(4) },
    layer_types: z.array(z.enum(['full_attention', 'chunked_attention'])).nullish(),
    attention_chunk_size: z.int().min(1).nullable().default(8192),
    use_qk_norm: z.boolean().default(true),
    ...{ attn_temperature_tuning: z.boolean().default(true), attn_scale: z.number().default(0.1) },
    floor_scale: z.int().min(1).default(8192),
  })
  .refine(...eachLayerIn('layer_types'))
  .refine((c) => (c.no_rope_layers?.length || Infinity) >= c.num_hidden_layers, {
    ...{ message: 'leaves out layers', path: ['no_rope_layers'] },
  });
type Config = z.output<typeof config>;

type At = (name: string) => string;

/** Python takes an empty list for none. */
const turns = (c: Config, layer: number): boolean =>
  c.no_rope_layers?.length ? c.no_rope_layers[layer] !== 0 : (layer + 1) % c.no_rope_layer_interval !== 0;

const isChunked = (c: Config, layer: number): boolean =>
  c.layer_types ? c.layer_types[layer] === 'chunked_attention' : turns(c, layer);

const isMixed = (c: Config, layer: number): boolean =>
  c.moe_layers ? c.moe_layers.includes(layer) : (layer + 1) % c.interleave_moe_layer_step === 0;

/** What turned heads go through; those that are not turned grow with their positions. */
function behind(g: GraphWriter, inputs: DecoderInputs, layer: number, c: Config): SelfAttention['behind'] {
  const { keyHeads, heads, headWidth: width, epsilon: own } = llamaSizes(c);
  const normed = (count: number) => (x: Value) => plainHeadNorm(g, x, { heads: count, width, epsilon: own });
  if (turns(c, layer)) return c.use_qk_norm ? { query: normed(heads), key: normed(keyHeads) } : undefined;
  const growth = { beta: c.attn_scale, length: c.floor_scale, first: 1 };
  const grown = (x: Value) => g.node('Mul', [x, positionGrowth(g, inputs.positions, growth)]);
  return c.attn_temperature_tuning ? { query: grown } : undefined;
}

function attend(
  g: GraphWriter,
  x: Value,
  inputs: DecoderInputs,
  { layer, at, c }: LayerNames & { c: Config },
): Value {
  const { width: from, heads, keyHeads, headWidth: width } = llamaSizes(c);
  const bias = c.attention_bias === true;
  const project = (name: string, count: number) =>
    linear(g, x, at(`self_attn.${name}_proj`), { from, to: count * width, bias });
  const projected = {
    query: project('q', heads),
    key: project('k', keyHeads),
    value: project('v', keyHeads),
  };
  const attended = selfAttention(g, inputs, projected, {
    ...{ layer, heads, keyHeads, width, scale: width ** -0.5, interleaved: true },
    rotary: turns(c, layer) ? c : undefined,
    chunk: isChunked(c, layer) ? (c.attention_chunk_size ?? undefined) : undefined,
    behind: behind(g, inputs, layer, c),
  });
  return linear(g, attended, at('self_attn.o_proj'), { from: heads * width, to: from, bias });
}

/** The sigmoids of the best scores say how much of a token its experts read. */
function choose(g: GraphWriter, tokens: Value, at: At, c: Config): Choices {
  const experts = c.num_local_experts;
  const router = { from: c.hidden_size, to: experts, bias: false, isExact: true };
  const logits = linear(g, tokens, at('router'), router);
  const [best, which] = g.nodes('TopK', [logits, g.ints([c.num_experts_per_tok])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  return { experts, which, weights: g.node('Sigmoid', [best]) };
}

/** Experts that one stack holds, [columns, rows] each. */
const experts = (g: GraphWriter, x: Value, at: At, c: Config): Value =>
  stackedFeedForward(g, x, {
    ...{ width: c.hidden_size, inner: c.intermediate_size, act: c.hidden_act },
    ...{ weighs: 'tokens', transposed: true, choose: (tokens) => choose(g, tokens, at, c) },
    ...{ both: at('experts.gate_up_proj'), down: at('experts.down_proj') },
  });

function feedForward(g: GraphWriter, x: Value, { layer, at: ofLayer, c }: LayerNames & { c: Config }): Value {
  const { hidden_size: width, hidden_act: act } = c;
  const at = (name: string) => ofLayer(`feed_forward.${name}`);
  if (!isMixed(c, layer)) return gatedFeedForward(g, x, at, { width, act, inner: c.intermediate_size_mlp });
  const shared = gatedFeedForward(g, x, (name) => at(`shared_expert.${name}`), {
    ...{ width, act, inner: c.intermediate_size },
  });
  return g.node('Add', [shared, experts(g, x, at, c)]);
}

/** Neighbours of a head are turned as pairs; layers that turn see their part of a text, others all of it. modeling_llama4.py */
export const llama4 = defineFamily({
  modelTypes: ['llama4_text'],
  config,
  ...llamaLike<Config>((c) => ({
    ...llamaSizes(c),
    attend: (g, x, inputs, of) => attend(g, x, inputs, { ...of, c }),
    feedForward: (g, x, at, layer) => feedForward(g, x, { layer, at, c }),
  })),
});
