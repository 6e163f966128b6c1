import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { linear } from '../layers/linear.js';
import { mambaConfig, mambaSizes, type StateSpace, stateSpace } from '../layers/mamba2-scan.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon, size } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { NAMES } from '../bases/decoder/mamba-layers.js';

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
export const falconH1 = defineFamily({
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
