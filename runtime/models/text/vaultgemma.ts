import type * as z from 'zod';
import { defineFamily } from '../family.js';
import { windowOf } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { around, capped } from '../bases/decoder/gemma-decoder.js';

/** Gemma 2 without norms behind attention and feed-forward. modeling_vaultgemma.py */
export const vaultgemma = defineFamily({
  modelTypes: ['vaultgemma'],
  config: capped,
  ...llamaLike<z.output<typeof capped>>((c) => ({
    ...around(c),
    ...{ norms: 'before', names: { feedForwardNorm: 'pre_feedforward_layernorm' } },
    window: windowOf(c, (layer) => layer % 2 === 0),
  })),
});
