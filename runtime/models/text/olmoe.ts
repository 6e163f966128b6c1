import * as z from 'zod';
import { defineFamily } from '../family.js';
import { epsilon, size } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { count, mixtureConfig, mixture } from '../bases/decoder/mixed-layers.js';

const olmoeConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 50_304, width: 2048, inner: 2048, layers: 16, heads: 16 }),
  max_position_embeddings: size.default(4096),
  ...mixtureConfig,
  rms_norm_eps: epsilon.default(1e-5),
  pad_token_id: z.int().nullable().default(1),
  num_experts: count.min(1).default(64),
  clip_qkv: z.number().positive().nullish(),
});

/** Norms of queries and keys go over all heads. modeling_olmoe.py */
export const olmoe = defineFamily({
  modelTypes: ['olmoe'],
  config: olmoeConfig,
  ...llamaLike<z.output<typeof olmoeConfig>>((c) => ({
    ...llamaSizes(c),
    headNorms: 'whole',
    clip: c.clip_qkv ?? undefined,
    feedForward: mixture(c, c.intermediate_size),
  })),
});
