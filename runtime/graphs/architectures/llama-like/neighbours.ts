import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { gatedFeedForward } from '../../blocks/gated-feed-forward.js';
import { layerNorm } from '../../blocks/norm.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { epsilon, size } from '../config.js';
import { llamaConfig, llamaSizes, windowConfig, windowOf, usualSizes } from './config.js';
import { type LlamaLike, llamaLike } from './llama-like.js';

/** Decoders whose heads turn neighbours as pairs: Helium, GLM, ERNIE, Cohere. */

const heliumConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 48_000, width: 2560, inner: 7040, layers: 24, heads: 20 }),
  max_position_embeddings: size.default(4096),
  num_key_value_heads: size.nullable().default(20),
  rope_theta: z.number().positive().default(100_000),
  rms_norm_eps: epsilon.default(1e-8),
  head_dim: size.default(128),
  pad_token_id: z.int().nullable().default(3),
  mlp_bias: z.boolean().default(false),
});

/** modeling_helium.py */
export const helium = defineArchitecture({
  modelTypes: ['helium'],
  config: heliumConfig,
  ...llamaLike<z.output<typeof heliumConfig>>((c) => ({
    ...llamaSizes(c),
    bias: { projections: c.attention_bias === true, feedForward: c.mlp_bias },
    interleaved: true,
  })),
});

export const ernieConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 103_424, width: 1024, inner: 3072, layers: 18, heads: 16 }),
  max_position_embeddings: size.default(131_072),
  rope_theta: z.number().positive().default(500_000),
  rms_norm_eps: epsilon.default(1e-5),
  num_key_value_heads: size.nullable().default(2),
  head_dim: size.nullable().default(128),
  pad_token_id: z.int().nullable().default(0),
  tie_word_embeddings: z.boolean().default(true),
  use_bias: z.boolean().default(false),
});

type Ernie = Omit<z.output<typeof ernieConfig>, 'head_dim'> & { head_dim?: number | null | undefined };

export const ernieModel = (c: Ernie): LlamaLike => ({
  ...llamaSizes({ ...c, head_dim: c.head_dim }),
  bias: { projections: c.use_bias, output: c.use_bias, feedForward: c.use_bias },
  interleaved: true,
});

/** modeling_ernie4_5.py */
export const ernie = defineArchitecture({
  modelTypes: ['ernie4_5'],
  config: ernieConfig,
  ...llamaLike<z.output<typeof ernieConfig>>(ernieModel),
});

const glmConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 151_552, width: 4096, inner: 13_696, layers: 40, heads: 32 }),
  max_position_embeddings: size.default(131_072),
  partial_rotary_factor: z.number().positive().max(1).default(0.5),
  rms_norm_eps: epsilon.default(1.5625e-7),
  num_key_value_heads: size.nullable().default(2),
  head_dim: size.nullable().default(128),
  attention_bias: z.boolean().default(true),
  pad_token_id: z.int().nullable().default(151_329),
});
type Glm = z.output<typeof glmConfig>;

function glmModel(c: Glm): LlamaLike {
  const { hidden_size: width, intermediate_size: inner, hidden_act: act } = c;
  return {
    ...llamaSizes(c),
    bias: { projections: c.attention_bias },
    interleaved: true,
    feedForward: (g: GraphWriter, x: Value, at) =>
      gatedFeedForward(g, x, (name) => at(`mlp.${name}`), { width, inner, act, fused: true }),
  };
}

/** modeling_glm.py */
export const glm = defineArchitecture({
  modelTypes: ['glm'],
  config: glmConfig,
  ...llamaLike<Glm>(glmModel),
});

/** Norms stand before and behind. modeling_glm4.py */
export const glm4 = defineArchitecture({
  modelTypes: ['glm4'],
  config: glmConfig,
  ...llamaLike<Glm>((c) => ({
    ...glmModel(c),
    norms: 'around',
    normsBehind: ['post_self_attn_layernorm', 'post_mlp_layernorm'],
  })),
});

const cohereConfig = {
  ...llamaConfig,
  ...usualSizes({ vocabulary: 256_000, width: 8192, inner: 22_528, layers: 40, heads: 64 }),
  max_position_embeddings: size.default(8192),
  layer_norm_eps: epsilon.default(1e-5),
  logit_scale: z.number().default(0.0625),
  tie_word_embeddings: z.boolean().default(true),
  pad_token_id: z.int().nullable().default(0),
};

const cohereSizes = (c: z.output<z.ZodObject<typeof cohereConfig>>) => ({
  ...llamaSizes(c),
  epsilon: c.layer_norm_eps,
  norm: (g: GraphWriter, x: Value, name: string, of: { width: number; epsilon: number }) =>
    layerNorm(g, x, name, { ...of, bias: false }),
  ...{ parallel: true, interleaved: true, scoresScale: c.logit_scale },
});

const commandConfig = z.object({
  ...cohereConfig,
  use_qk_norm: z.boolean().default(false),
});

/** Attention and feed-forward side by side. modeling_cohere.py */
export const cohere = defineArchitecture({
  modelTypes: ['cohere'],
  config: commandConfig,
  ...llamaLike<z.output<typeof commandConfig>>((c) => ({
    ...cohereSizes(c),
    ...(c.use_qk_norm && { headNorms: 'each' }),
  })),
});

const cohere2Config = z.object({
  ...cohereConfig,
  ...windowConfig,
  sliding_window: z.int().min(1).nullable().default(4096),
  sliding_window_pattern: z.int().min(1).default(4),
});

/** Layers that see everything don't turn their heads. modeling_cohere2.py */
export const cohere2 = defineArchitecture({
  modelTypes: ['cohere2'],
  config: cohere2Config,
  ...llamaLike<z.output<typeof cohere2Config>>((c) => {
    const window = windowOf(c, (layer) => (layer + 1) % c.sliding_window_pattern !== 0);
    return {
      ...cohereSizes(c),
      window,
      rotary: (layer: number) => (window(layer) === undefined ? undefined : c),
    };
  }),
});
