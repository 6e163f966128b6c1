import * as z from 'zod';
import { llamaConfig, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { llamaOf } from './llama.js';

const config = z
  .object({
    ...llamaConfig,
    ...usualSizes({ vocabulary: 128_512, width: 4096, inner: 10_240, layers: 48, heads: 32 }),
    num_key_value_heads: size.nullable().default(2),
    head_dim: size.nullable().default(128),
    max_position_embeddings: size.default(32_768),
    rms_norm_eps: epsilon.default(1e-5),
    pad_token_id: z.int().nullable().default(2),
    mlp_bias: z.boolean().default(false),
  })
  .refine((c) => (c.attention_bias ?? false) === c.mlp_bias, {
    message: 'qkv_bias other than bias is not known',
    path: ['attention_bias'],
  });

/** Llama with sizes of its own. configuration_internlm3.py */
export const internlm3 = defineFamily({
  modelTypes: ['internlm3'],
  config,
  ...llamaLike<z.output<typeof config>>(llamaOf),
});
