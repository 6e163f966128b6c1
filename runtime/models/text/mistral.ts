import * as z from 'zod';
import { defineFamily } from '../family.js';
import { size } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

export const mistralConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 32_000, width: 4096, inner: 14_336, layers: 32, heads: 32 }),
  max_position_embeddings: size.default(131_072),
  num_key_value_heads: size.nullable().default(8),
  sliding_window: z.int().min(1).nullable().default(4096),
});

/** All layers see a window. modeling_mistral.py */
export const mistral = defineFamily({
  modelTypes: ['mistral'],
  config: mistralConfig,
  ...llamaLike<z.output<typeof mistralConfig>>((c) => ({
    ...llamaSizes(c),
    bias: {},
    window: () => c.sliding_window ?? undefined,
  })),
});
