import * as z from 'zod';
import { defineFamily } from '../family.js';
import { epsilon, size } from '../config-fields.js';
import {
  llamaConfig,
  llamaSizes,
  windowConfig,
  windowOf,
  usualSizes,
} from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

export const exaoneConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 102_400, width: 4096, inner: 16_384, layers: 32, heads: 32 }),
  num_key_value_heads: size.nullable().default(32),
  ...windowConfig,
  sliding_window: z.int().min(1).nullable().default(4096),
  sliding_window_pattern: z.int().min(1).nullable().default(4),
  rms_norm_eps: epsilon.default(1e-5),
});

type Exaone = z.output<typeof exaoneConfig>;

export function exaoneSlides({ layer_types, sliding_window, sliding_window_pattern: pattern }: Exaone) {
  return (layer: number): boolean => {
    if (layer_types) return layer_types[layer] === 'sliding_attention';
    return sliding_window !== null && pattern !== null && (layer + 1) % pattern !== 0;
  };
}

/** Where there are windows, layers that see everything don't turn their heads. modeling_exaone4.py */
export const exaone4 = defineFamily({
  modelTypes: ['exaone4'],
  config: exaoneConfig,
  ...llamaLike<Exaone>((c) => {
    const slides = exaoneSlides(c);
    return {
      ...llamaSizes(c),
      ...{ bias: {}, norms: 'after', headNorms: 'head', window: windowOf(c, slides) },
      rotary: (layer) => (c.sliding_window === null || slides(layer) ? c : undefined),
    };
  }),
});
