import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { float } from '../../attributes.js';
import { activation } from '../../blocks/activation.js';
import { linear } from '../../blocks/linear.js';
import { layerNorm, type NormOptions } from '../../blocks/norm.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { epsilon, size } from '../config.js';
import { llamaConfig, llamaSizes, usualSizes } from './config.js';
import { llamaLike } from './llama-like.js';

/** Decoders with Llama's attention and LayerNorms: OLMo, StarCoder2, Nemotron. */

const olmoConfig = z.object({
  ...llamaConfig,
  vocab_size: size.default(50_304),
  pad_token_id: z.int().nullable().default(1),
  clip_qkv: z.number().positive().nullish(),
});

/** A LayerNorm that has learnt nothing. */
function plainNorm(g: GraphWriter, x: Value, _name: string, { width }: NormOptions): Value {
  const ones = g.floats(new Float32Array(width).fill(1));
  return g.node('LayerNormalization', [x, ones], { axis: -1, epsilon: float(1e-5) });
}

/** modeling_olmo.py */
export const olmo = defineArchitecture({
  modelTypes: ['olmo'],
  config: olmoConfig,
  ...llamaLike<z.output<typeof olmoConfig>>((c) => ({
    ...llamaSizes(c),
    clip: c.clip_qkv ?? undefined,
    norm: plainNorm,
  })),
});

interface TwoLayers {
  names: readonly [wide: string, narrow: string];
  bias: boolean;
}

/** Two layers with an activation between them, in place of gated ones. */
export const twoLayers =
  (c: { hidden_size: number; intermediate_size: number; hidden_act: string }, { names, bias }: TwoLayers) =>
  (g: GraphWriter, x: Value, at: (name: string) => string): Value => {
    const [width, inner] = [c.hidden_size, c.intermediate_size];
    const wide = linear(g, x, at(`mlp.${names[0]}`), { from: width, to: inner, bias });
    return linear(g, activation(g, wide, c.hidden_act), at(`mlp.${names[1]}`), {
      ...{ from: inner, to: width, bias },
    });
  };

const starcoderConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 49_152, width: 3072, inner: 12_288, layers: 30, heads: 24 }),
  max_position_embeddings: size.default(4096),
  norm_epsilon: epsilon.default(1e-5),
  num_key_value_heads: z.int().min(1).nullable().default(2),
  hidden_act: z.string().default('gelu_pytorch_tanh'),
  sliding_window: z.int().min(1).nullish(),
  tie_word_embeddings: z.boolean().default(true),
  use_bias: z.boolean().default(true),
});

/** modeling_starcoder2.py */
export const starcoder2 = defineArchitecture({
  modelTypes: ['starcoder2'],
  config: starcoderConfig,
  ...llamaLike<z.output<typeof starcoderConfig>>((c) => ({
    ...llamaSizes(c),
    epsilon: c.norm_epsilon,
    bias: { projections: c.use_bias, output: c.use_bias },
    norm: layerNorm,
    window: () => c.sliding_window ?? undefined,
    feedForward: twoLayers(c, { names: ['c_fc', 'c_proj'], bias: c.use_bias }),
  })),
});

const nemotronConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 256_000, width: 6144, inner: 24_576, layers: 32, heads: 48 }),
  max_position_embeddings: size.default(4096),
  norm_eps: epsilon.default(1e-5),
  hidden_act: z.string().default('relu2'),
  partial_rotary_factor: z.number().positive().max(1).default(0.5),
  mlp_bias: z.boolean().default(false),
});

/** A LayerNorm that stores what its weight differs from 1. */
function shiftedNorm(g: GraphWriter, x: Value, name: string, { width, epsilon: at }: NormOptions): Value {
  const weight = g.node('Add', [g.weight(`${name}.weight`, [width]), g.scalar(1)]);
  const inputs = [x, weight, g.weight(`${name}.bias`, [width])];
  return g.node('LayerNormalization', inputs, { axis: -1, epsilon: float(at) });
}

/** modeling_nemotron.py */
export const nemotron = defineArchitecture({
  modelTypes: ['nemotron'],
  config: nemotronConfig,
  ...llamaLike<z.output<typeof nemotronConfig>>((c) => ({
    ...llamaSizes(c),
    epsilon: c.norm_eps,
    norm: shiftedNorm,
    feedForward: twoLayers(c, { names: ['up_proj', 'down_proj'], bias: c.mlp_bias }),
  })),
});
