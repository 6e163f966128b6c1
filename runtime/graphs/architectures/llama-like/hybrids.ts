import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { epsilon, size } from '../config.js';
import { llamaConfig, llamaSizes, windowConfig, windowOf, usualSizes } from './config.js';
import { llamaLike } from './llama-like.js';

/** Decoders with norms behind attention and feed-forward whose layers see a window or everything: OLMo 3, EXAONE 4. */

const olmo3Config = z.object({
  ...llamaConfig,
  vocab_size: size.default(50_304),
  ...windowConfig,
  sliding_window: z.int().min(1).nullable().default(4096),
  rms_norm_eps: epsilon.default(1e-5),
  pad_token_id: z.int().nullable().default(1),
  rope_local_base_freq: z.number().positive().nullish(),
});

/** Only layers that see everything have scaled positions. modeling_olmo3.py */
export const olmo3 = defineArchitecture({
  modelTypes: ['olmo3'],
  config: olmo3Config,
  ...llamaLike<z.output<typeof olmo3Config>>((c) => {
    const slides = (layer: number) =>
      c.layer_types ? c.layer_types[layer] === 'sliding_attention' : (layer + 1) % 4 !== 0;
    const local = { ...c, rope_theta: c.rope_local_base_freq ?? c.rope_theta, rope_scaling: null };
    return {
      ...llamaSizes(c),
      ...{ norms: 'after', headNorms: 'whole', window: windowOf(c, slides) },
      rotary: (layer) => (slides(layer) ? local : c),
    };
  }),
});

const exaoneConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 102_400, width: 4096, inner: 16_384, layers: 32, heads: 32 }),
  num_key_value_heads: size.nullable().default(32),
  ...windowConfig,
  sliding_window: z.int().min(1).nullable().default(4096),
  sliding_window_pattern: z.int().min(1).nullable().default(4),
  rms_norm_eps: epsilon.default(1e-5),
});
type Exaone = z.output<typeof exaoneConfig>;

function slidesOf({ layer_types, sliding_window, sliding_window_pattern: pattern }: Exaone) {
  return (layer: number): boolean => {
    if (layer_types) return layer_types[layer] === 'sliding_attention';
    return sliding_window !== null && pattern !== null && (layer + 1) % pattern !== 0;
  };
}

/** Where there are windows, layers that see everything don't turn their heads. modeling_exaone4.py */
export const exaone4 = defineArchitecture({
  modelTypes: ['exaone4'],
  config: exaoneConfig,
  ...llamaLike<Exaone>((c) => {
    const slides = slidesOf(c);
    return {
      ...llamaSizes(c),
      ...{ bias: {}, norms: 'after', headNorms: 'head', window: windowOf(c, slides) },
      rotary: (layer) => (c.sliding_window === null || slides(layer) ? c : undefined),
    };
  }),
});
