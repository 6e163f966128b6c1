import * as z from 'zod';
import {
  llamaConfig,
  llamaSizes,
  usualSizes,
  windowConfig,
  windowOf,
} from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';

/** What Python takes where a file says nothing of rope; null is what plain rope parameters become (hub-config/rope.ts). */
const ROPE = {
  ...{ rope_type: 'llama3', factor: 16, low_freq_factor: 1, high_freq_factor: 4 },
  original_max_position_embeddings: 8192,
};

const config = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 128_256, width: 6144, inner: 21_504, layers: 64, heads: 48 }),
  ...windowConfig,
  rope_theta: z.number().positive().default(1e6),
  num_key_value_heads: size.nullable().default(8),
  head_dim: size.nullable().default(128),
  max_position_embeddings: size.default(131_072),
  rms_norm_eps: epsilon.default(1e-5),
  sliding_window: z.int().min(0).nullable().default(8192),
  mlp_bias: z.boolean().default(false),
  rope_scaling: llamaConfig.rope_scaling.transform((given) => (given === undefined ? ROPE : given)),
});

type Cwm = z.output<typeof config>;

const everyFourth = (layer: number): boolean => layer % 4 !== 0;

/** Llama whose layers see a window, but for every fourth one. modeling_cwm.py */
export const cwm = defineFamily({
  modelTypes: ['cwm'],
  config,
  ...llamaLike<Cwm>((c) => ({
    ...llamaSizes(c),
    bias: { feedForward: c.mlp_bias },
    window: windowOf({ ...c, sliding_window: c.sliding_window || null }, everyFourth),
  })),
});
