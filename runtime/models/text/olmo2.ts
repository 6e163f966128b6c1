import * as z from 'zod';
import { defineFamily } from '../family.js';
import { epsilon, size } from '../config-fields.js';
import { llamaConfig, llamaSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

const olmo2Config = z.object({
  ...llamaConfig,
  vocab_size: size.default(50_304),
  rms_norm_eps: epsilon.default(1e-5),
  pad_token_id: z.int().nullable().default(1),
});

/** Norms stand after attention and feed-forward; those of queries and keys go over all heads. modeling_olmo2.py */
export const olmo2 = defineFamily({
  modelTypes: ['olmo2'],
  config: olmo2Config,
  ...llamaLike<z.output<typeof olmo2Config>>((c) => ({
    ...llamaSizes(c),
    norms: 'after',
    headNorms: 'whole',
  })),
});
