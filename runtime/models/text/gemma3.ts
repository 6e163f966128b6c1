import * as z from 'zod';
import { defineFamily } from '../family.js';
import { size } from '../config-fields.js';
import { windowOf } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { gemma2Config, around } from '../bases/decoder/gemma-decoder.js';

const gemma3Config = gemma2Config.extend({
  vocab_size: size.default(262_208),
  max_position_embeddings: z.int().min(1).default(131_072),
  rope_theta: z.number().positive().default(1e6),
  rope_local_base_freq: z.number().positive().default(1e4),
  sliding_window_pattern: z.int().min(1).default(6),
  use_bidirectional_attention: z.literal(false).nullish(),
});

/** Layers that see a window turn their heads by other frequencies, which nothing stretches. modeling_gemma3.py */
export const gemma3 = defineFamily({
  modelTypes: ['gemma3_text'],
  config: gemma3Config,
  ...llamaLike<z.output<typeof gemma3Config>>((c) => {
    const window = windowOf(c, (layer) => (layer + 1) % c.sliding_window_pattern !== 0);
    const local = { ...c, rope_theta: c.rope_local_base_freq, rope_scaling: undefined };
    return {
      ...around(c),
      headNorms: 'head',
      window,
      rotary: (layer) => (window(layer) === undefined ? c : local),
    };
  }),
});
