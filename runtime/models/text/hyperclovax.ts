import * as z from 'zod';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { headWidth } from '../layers/head-sizes.js';
import { defineFamily } from '../family.js';
import { graniteConfig, graniteOf } from './granite.js';

const config = z.object({
  ...graniteConfig.shape,
  attention_multiplier: z.number().nullable().default(null),
  use_post_norm: z.boolean().default(true),
});

type HyperClovaX = z.output<typeof config>;

/** Granite with norms behind attention and feed-forward, and scores that are multiplied. modeling_hyperclovax.py */
export const hyperclovax = defineFamily({
  modelTypes: ['hyperclovax'],
  config,
  ...llamaLike<HyperClovaX>((c) => {
    const width = c.head_dim ?? headWidth(c.hidden_size, c.num_attention_heads);
    const scale = c.attention_multiplier ?? width ** -0.5;
    return {
      ...graniteOf({ ...c, attention_multiplier: scale }),
      scoresScale: c.logits_scaling,
      ...(c.use_post_norm && { norms: 'around', normsBehind: ['post_norm1', 'post_norm2'] }),
    };
  }),
});
