import type * as z from 'zod';
import { defineFamily } from '../family.js';
import { llamaSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { mixture, qwen3MoeConfig, isMixed } from '../bases/decoder/mixed-layers.js';

type Qwen3Moe = z.output<typeof qwen3MoeConfig>;

/** Layers without experts have one gated layer. modeling_qwen3_moe.py */
export const qwen3Moe = defineFamily({
  modelTypes: ['qwen3_moe'],
  config: qwen3MoeConfig,
  ...llamaLike<Qwen3Moe>((c) => {
    const mixed = mixture(c, c.moe_intermediate_size);
    return {
      ...llamaSizes(c),
      headNorms: 'head',
      window: () => (c.use_sliding_window ? (c.sliding_window ?? undefined) : undefined),
      feedForward: (g, x, at, layer) => (isMixed(c, layer) ? mixed(g, x, at) : undefined),
    };
  }),
});
