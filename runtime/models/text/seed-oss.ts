import * as z from 'zod';
import { defineFamily } from '../family.js';
import { size } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

/** Decoders that are Llama but for one part: Seed-OSS, Arcee, Ministral, Apertus. */

const seedConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 155_136, width: 4096, inner: 27_648, layers: 64, heads: 80 }),
  num_key_value_heads: size.nullable().default(8),
  head_dim: size.nullable().default(128),
  max_position_embeddings: size.default(524_288),
  attention_bias: z.boolean().default(true),
  attention_out_bias: z.boolean().default(false),
  mlp_bias: z.boolean().default(false),
  pad_token_id: z.int().nullable().default(1),
});

/** modeling_seed_oss.py */
export const seedOss = defineFamily({
  modelTypes: ['seed_oss'],
  readers: { messages: 'plain' },
  config: seedConfig,
  ...llamaLike<z.output<typeof seedConfig>>((c) => ({
    ...llamaSizes(c),
    bias: { projections: c.attention_bias, output: c.attention_out_bias, feedForward: c.mlp_bias },
  })),
});
