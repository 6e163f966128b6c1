import * as z from 'zod';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { llama4Growth } from '../bases/decoder/llama4-growth.js';
import { epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';

/** What Python takes where a file says nothing of rope. */
const SCALING = {
  ...{ type: 'yarn', factor: 16, original_max_position_embeddings: 16_384 },
  ...{ beta_fast: 32, beta_slow: 1, mscale_all_dim: 1, mscale: 1, llama_4_scaling_beta: 0.1 },
};

const config = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 131_072, width: 4096, inner: 14_336, layers: 34, heads: 32 }),
  ...{ num_key_value_heads: size.nullable().default(8), head_dim: size.nullable().default(128) },
  max_position_embeddings: size.default(262_144),
  pad_token_id: z.int().nullable().default(11),
  ...{ rms_norm_eps: epsilon.default(1e-5), rope_theta: z.number().positive().default(1e6) },
  rope_scaling: z
    .record(z.string(), z.unknown())
    .nullish()
    .transform((given) => given ?? SCALING),
  sliding_window: z.int().min(1).nullish(),
});
type Config = z.output<typeof config>;

/** Mistral, whose queries grow by a logarithm of their positions. modeling_ministral3.py */
export const ministral3 = defineFamily({
  modelTypes: ['ministral3'],
  config,
  ...llamaLike<Config>((c) => ({
    ...llamaSizes(c),
    bias: {},
    window: () => c.sliding_window ?? undefined,
    queryGrowth: llama4Growth(c.rope_scaling),
  })),
});
