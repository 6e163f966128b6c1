import * as z from 'zod';
import { defineFamily } from '../family.js';
import { library, size } from '../config-fields.js';
import {
  llamaConfig,
  llamaSizes,
  usualSizes,
  windowConfig,
  windowOf,
} from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import {
  sigmoidExperts,
  shutsGroups,
  routedConfig,
  routedFeedForward,
  sigmoidConfig,
} from '../bases/decoder/routed-experts.js';

const dotsConfig = z.object({
  ...llamaConfig,
  ...library,
  ...usualSizes({ vocabulary: 152_064, width: 4608, inner: 10_944, layers: 62, heads: 32 }),
  ...routedConfig,
  ...sigmoidConfig,
  ...windowConfig,
  num_key_value_heads: size.nullable().default(32),
  moe_intermediate_size: size.default(1408),
  norm_topk_prob: z.boolean().default(false),
  sliding_window: z.int().min(1).nullable().default(4096),
  max_window_layers: z.int().min(0).default(62),
});

/** modeling_dots1.py */
export const dots1 = defineFamily({
  modelTypes: ['dots1'],
  config: dotsConfig,
  ...llamaLike<z.output<typeof dotsConfig>>((c) => ({
    ...llamaSizes(c),
    headNorms: 'head',
    window: windowOf(c, (layer) => layer >= c.max_window_layers),
    feedForward: routedFeedForward(c, sigmoidExperts({ ...c, shut: shutsGroups(c) })),
  })),
});
