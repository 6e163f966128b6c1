import * as z from 'zod';
import { llamaConfig, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { llamaOf } from './llama.js';

const config = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 76_800, width: 5120, inner: 27_648, layers: 80, heads: 40 }),
  num_key_value_heads: size.nullable().default(8),
  head_dim: size.nullable().default(128),
  max_position_embeddings: size.default(131_072),
  rms_norm_eps: epsilon.default(1e-5),
  mlp_bias: z.boolean().default(false),
  clip_qkv: z.null('clipped projections are not known').optional(),
  use_sliding_window: z.literal(false, 'windows are not known').nullish(),
});

/** Llama with sizes of its own. configuration_iquestcoder.py */
export const iquestcoder = defineFamily({
  modelTypes: ['iquestcoder'],
  config,
  ...llamaLike<z.output<typeof config>>(llamaOf),
});
