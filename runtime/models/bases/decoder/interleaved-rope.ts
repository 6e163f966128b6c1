import * as z from 'zod';
import { gatedFeedForward } from '../../layers/swiglu.js';
import { layerNorm } from '../../layers/norm.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { epsilon, size } from '../../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from './llama-config.js';
import type { LlamaLike } from './llama-decoder.js';

export const glmConfig = z.object({
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

export type Glm = z.output<typeof glmConfig>;

type Sized = Parameters<typeof llamaSizes>[0];

export function glmModel(c: Sized): LlamaLike {
  const { hidden_size: width, intermediate_size: inner, hidden_act: act } = c;
  return {
    ...llamaSizes(c),
    bias: { projections: c.attention_bias === true },
    interleaved: true,
    feedForward: (g: GraphWriter, x: Value, at) =>
      gatedFeedForward(g, x, (name) => at(`mlp.${name}`), { width, inner, act, fused: true }),
  };
}

/** The same with norms before and behind. */
export const glm4Model = (c: Sized): LlamaLike => ({
  ...glmModel(c),
  norms: 'around',
  normsBehind: ['post_self_attn_layernorm', 'post_mlp_layernorm'],
});

export const cohereConfig = {
  ...llamaConfig,
  ...usualSizes({ vocabulary: 256_000, width: 8192, inner: 22_528, layers: 40, heads: 64 }),
  max_position_embeddings: size.default(8192),
  layer_norm_eps: epsilon.default(1e-5),
  logit_scale: z.number().default(0.0625),
  tie_word_embeddings: z.boolean().default(true),
  pad_token_id: z.int().nullable().default(0),
};

export const cohereSizes = (c: z.output<z.ZodObject<typeof cohereConfig>>) => ({
  ...llamaSizes(c),
  epsilon: c.layer_norm_eps,
  norm: (g: GraphWriter, x: Value, name: string, of: { width: number; epsilon: number }) =>
    layerNorm(g, x, name, { ...of, bias: false }),
  ...{ parallel: true, interleaved: true, scoresScale: c.logit_scale },
});
