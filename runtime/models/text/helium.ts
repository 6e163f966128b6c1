import * as z from 'zod';
import { defineFamily } from '../family.js';
import { epsilon, size } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

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
export const helium = defineFamily({
  modelTypes: ['helium'],
  config: heliumConfig,
  ...llamaLike<z.output<typeof heliumConfig>>((c) => ({
    ...llamaSizes(c),
    bias: { projections: c.attention_bias === true, feedForward: c.mlp_bias },
    interleaved: true,
  })),
});
