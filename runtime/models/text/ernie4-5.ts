import * as z from 'zod';
import { defineFamily } from '../family.js';
import { epsilon, size } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { type LlamaLike, llamaLike } from '../bases/decoder/llama-decoder.js';

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
export const ernie = defineFamily({
  modelTypes: ['ernie4_5'],
  config: ernieConfig,
  ...llamaLike<z.output<typeof ernieConfig>>(ernieModel),
});
