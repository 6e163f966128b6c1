import * as z from 'zod';
import { defineFamily } from '../family.js';
import { windowConfig, windowOf } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { cohereConfig, cohereSizes } from '../bases/decoder/interleaved-rope.js';

const cohere2Config = z.object({
  ...cohereConfig,
  ...windowConfig,
  sliding_window: z.int().min(1).nullable().default(4096),
  sliding_window_pattern: z.int().min(1).default(4),
});

/** Layers that see everything don't turn their heads. modeling_cohere2.py */
export const cohere2 = defineFamily({
  modelTypes: ['cohere2'],
  config: cohere2Config,
  ...llamaLike<z.output<typeof cohere2Config>>((c) => {
    const window = windowOf(c, (layer) => (layer + 1) % c.sliding_window_pattern !== 0);
    return {
      ...cohereSizes(c),
      window,
      rotary: (layer: number) => (window(layer) === undefined ? undefined : c),
    };
  }),
});
