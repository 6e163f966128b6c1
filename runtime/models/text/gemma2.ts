import type * as z from 'zod';
import { defineFamily } from '../family.js';
import { windowOf } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { around, capped } from '../bases/decoder/gemma-decoder.js';

/** Every second layer sees a window. modeling_gemma2.py */
export const gemma2 = defineFamily({
  modelTypes: ['gemma2'],
  config: capped,
  ...llamaLike<z.output<typeof capped>>((c) => ({
    ...around(c),
    window: windowOf(c, (layer) => layer % 2 === 0),
  })),
});
