import * as z from 'zod';
import { defineFamily } from '../family.js';
import { size } from '../config-fields.js';
import {
  llamaConfig,
  llamaSizes,
  usualSizes,
  windowConfig,
  windowOf,
} from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

const ministralConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 32_000, width: 4096, inner: 14_336, layers: 32, heads: 32 }),
  ...windowConfig,
  num_key_value_heads: size.nullable().default(8),
  max_position_embeddings: size.default(131_072),
  sliding_window: z.int().min(1).nullable().default(4096),
});

/** modeling_ministral.py */
export const ministral = defineFamily({
  modelTypes: ['ministral'],
  config: ministralConfig,
  ...llamaLike<z.output<typeof ministralConfig>>((c) => ({
    ...llamaSizes(c),
    bias: {},
    window: windowOf(c, () => true),
  })),
});
