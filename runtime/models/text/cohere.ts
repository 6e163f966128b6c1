import * as z from 'zod';
import { defineFamily } from '../family.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { cohereConfig, cohereSizes } from '../bases/decoder/interleaved-rope.js';

const commandConfig = z.object({
  ...cohereConfig,
  use_qk_norm: z.boolean().default(false),
});

/** Attention and feed-forward side by side. modeling_cohere.py */
export const cohere = defineFamily({
  modelTypes: ['cohere'],
  config: commandConfig,
  ...llamaLike<z.output<typeof commandConfig>>((c) => ({
    ...cohereSizes(c),
    ...(c.use_qk_norm && { headNorms: 'each' }),
  })),
});
