import * as z from 'zod';
import { latentModel, longScale } from '../bases/decoder/deepseek-decoder.js';
import { llamaConfig, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { size } from '../config-fields.js';
import { defineFamily, WHOLE_KEYS } from '../family.js';
import { latentConfig, latentHeadWidth } from '../layers/latent-attention.js';

const config = z.object({
  ...llamaConfig,
  ...latentConfig,
  ...usualSizes({ vocabulary: 128_256, width: 2048, inner: 6144, layers: 32, heads: 16 }),
  num_key_value_heads: size.nullable().default(16),
  max_position_embeddings: size.default(131_072),
  tie_word_embeddings: z.boolean().default(true),
  rope_interleave: z.boolean().default(true),
});

/** DeepSeek 3's attention, and one gated layer. modeling_youtu.py */
export const youtu = defineFamily({
  modelTypes: ['youtu'],
  memory: { headWidth: latentHeadWidth },
  limits: [WHOLE_KEYS],
  config,
  ...llamaLike<z.output<typeof config>>((c) =>
    latentModel(c, { scale: longScale(c), interleaved: c.rope_interleave }),
  ),
});
