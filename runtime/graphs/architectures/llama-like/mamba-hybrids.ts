import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { activation } from '../../blocks/activation.js';
import { linear } from '../../blocks/linear.js';
import { partialRotaryConfig } from '../../blocks/rotary-frequencies.js';
import { mambaConfig, mambaSizes, type StateSpace, stateSpace } from '../../blocks/state-space.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { epsilon, isOfVersion5, library, size } from '../config.js';
import { llamaConfig, llamaSizes, usualSizes } from './config.js';
import { llamaLike } from './llama-like.js';

/** Decoders that keep states beside or in place of keys and values: Bamba, Falcon-H1. */

const NAMES = {
  norm: 'model.final_layernorm',
  feedForwardNorm: 'pre_ff_layernorm',
  feedForward: 'feed_forward',
};

const bambaConfig = z.object({
  ...llamaConfig,
  ...partialRotaryConfig,
  ...library,
  ...usualSizes({ vocabulary: 128_000, width: 4096, inner: 14_336, layers: 32, heads: 32 }),
  ...mambaConfig,
  num_key_value_heads: size.nullable().default(8),
  max_position_embeddings: size.default(262_144),
  rms_norm_eps: epsilon.default(1e-5),
  pad_token_id: z.int().nullable().default(0),
  attn_layer_indices: z.array(z.int()).nullish(),
});
type Bamba = z.output<typeof bambaConfig>;

/** Few layers attend, by half of their heads' places. In version 5 groups are normed by themselves. modeling_bamba.py */
export const bamba = defineArchitecture({
  modelTypes: ['bamba'],
  config: bambaConfig,
  ...llamaLike<Bamba>((c) => {
    const sizes = {
      ...{ ...mambaSizes(c), epsilon: c.rms_norm_eps, act: c.hidden_act },
      normGroups: isOfVersion5(c) ? c.mamba_n_groups : 1,
    };
    return {
      ...llamaSizes(c),
      ...{ names: NAMES, rotary: () => ({ ...c, partial_rotary_factor: c.partial_rotary_factor ?? 0.5 }) },
      attend: (g, x, inputs, { layer, at }) =>
        c.attn_layer_indices?.includes(layer)
          ? undefined
          : stateSpace(g, x, inputs, { ...sizes, layer, at: (name) => at(`mamba.${name}`) }),
    };
  }),
});

const factor = z
  .number()
  .nullish()
  .transform((value) => value ?? 1);
const factors = (count: number) =>
  z
    .array(z.number())
    .length(count)
    .nullish()
    .transform((values) => values ?? new Array<number>(count).fill(1));

const falconConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 128_000, width: 4096, inner: 14_336, layers: 32, heads: 32 }),
  ...mambaConfig,
  mamba_d_ssm: size.nullable().default(1024),
  mamba_norm_before_gate: z.boolean().default(true),
  mamba_rms_norm: z.boolean().default(false),
  projectors_bias: z.boolean().default(false),
  num_key_value_heads: size.nullable().default(8),
  max_position_embeddings: size.default(8192),
  rope_theta: z.number().positive().default(100_000),
  rms_norm_eps: epsilon.default(1e-5),
  pad_token_id: z.int().nullable().default(0),
  ...{ lm_head_multiplier: factor, embedding_multiplier: factor, key_multiplier: factor },
  ...{ attention_in_multiplier: factor, attention_out_multiplier: factor },
  ...{ ssm_in_multiplier: factor, ssm_out_multiplier: factor },
  ...{ mlp_multipliers: factors(2), ssm_multipliers: factors(5) },
});
type Falcon = z.output<typeof falconConfig>;

function falconState(c: Falcon): Omit<StateSpace, 'layer' | 'at'> {
  const sizes = mambaSizes(c, c.mamba_d_ssm ?? Math.floor(c.mamba_expand * c.hidden_size));
  const { heads, headWidth, groups, state } = sizes;
  const parts = [heads * headWidth, heads * headWidth, groups * state, groups * state, heads];
  const projection = parts.flatMap((count, i) => new Array<number>(count).fill(c.ssm_multipliers[i]!));
  const place = c.mamba_norm_before_gate ? 'before the gate' : 'behind the gate';
  return {
    ...{ ...sizes, epsilon: c.rms_norm_eps, act: c.hidden_act },
    bias: { ...sizes.bias, output: c.projectors_bias },
    ...{ norm: c.mamba_rms_norm ? place : 'none', normGroups: groups },
    factors: { input: c.ssm_in_multiplier, projection },
  };
}

const times = (g: GraphWriter, x: Value, by: number): Value =>
  by === 1 ? x : g.node('Mul', [x, g.scalar(by)]);

function falconFeedForward(g: GraphWriter, x: Value, at: (name: string) => string, c: Falcon): Value {
  const { hidden_size: width, intermediate_size: inner } = c;
  const [gateFactor, downFactor] = c.mlp_multipliers as [number, number];
  const wide = (name: string) => linear(g, x, at(`${name}_proj`), { from: width, to: inner, bias: false });
  const gate = activation(g, times(g, wide('gate'), gateFactor), c.hidden_act);
  const product = g.node('Mul', [wide('up'), gate]);
  return times(g, linear(g, product, at('down_proj'), { from: inner, to: width, bias: false }), downFactor);
}

/** Each layer attends and keeps a state, side by side. modeling_falcon_h1.py */
export const falconH1 = defineArchitecture({
  modelTypes: ['falcon_h1'],
  config: falconConfig,
  ...llamaLike<Falcon>((c) => {
    const sizes = falconState(c);
    return {
      ...llamaSizes(c),
      ...{ names: NAMES, embedScale: c.embedding_multiplier, scoresScale: c.lm_head_multiplier },
      attentionFactors: {
        ...{ input: c.attention_in_multiplier, keys: c.key_multiplier, output: c.attention_out_multiplier },
      },
      beside: (g, x, inputs, { layer, at }) =>
        times(
          g,
          stateSpace(g, x, inputs, { ...sizes, layer, at: (name) => at(`mamba.${name}`) }),
          c.ssm_out_multiplier,
        ),
      feedForward: (g, x, at) => falconFeedForward(g, x, (name) => at(`feed_forward.${name}`), c),
    };
  }),
});
