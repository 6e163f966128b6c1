import * as z from 'zod';
import { defineFamily } from '../family.js';
import { size } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { count, mixtureConfig, mixture } from '../bases/decoder/mixed-layers.js';

const flexConfig = z.object({
  ...llamaConfig,
  ...mixtureConfig,
  ...usualSizes({ vocabulary: 100_352, width: 4096, inner: 11_008, layers: 32, heads: 32 }),
  rope_theta: z.number().positive().default(500_000),
  max_position_embeddings: size.default(4096),
  pad_token_id: z.int().nullable().default(100_277),
  num_experts: count.min(1).default(7),
  num_experts_per_tok: z.int().min(1).max(1024).default(5),
});

/** OLMoE with OLMo 2's norms. modeling_flex_olmo.py */
export const flexOlmo = defineFamily({
  modelTypes: ['flex_olmo'],
  config: flexConfig,
  ...llamaLike<z.output<typeof flexConfig>>((c) => ({
    ...llamaSizes(c),
    ...{ norms: 'after', headNorms: 'whole' },
    feedForward: mixture(c, c.intermediate_size),
  })),
});
