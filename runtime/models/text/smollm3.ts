import * as z from 'zod';
import { defineFamily } from '../family.js';
import { size } from '../config-fields.js';
import {
  llamaConfig,
  llamaSizes,
  usualSizes,
  windowConfig,
  windowOf,
} from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

const smolConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 128_256, width: 2048, inner: 11_008, layers: 36, heads: 16 }),
  max_position_embeddings: size.default(32_768),
  ...windowConfig,
  rope_theta: z.number().positive().default(2e6),
  num_key_value_heads: z.int().min(1).nullable().default(4),
  tie_word_embeddings: z.boolean().default(true),
  pad_token_id: z.int().nullable().default(128_004),
  mlp_bias: z.boolean().default(false),
  use_sliding_window: z.boolean().nullish(),
  no_rope_layers: z.array(z.int().min(0).max(1)).nullish(),
  no_rope_layer_interval: z.int().min(1).default(4),
});

/** Every fourth layer does not turn its heads. modeling_smollm3.py */
export const smollm3 = defineFamily({
  modelTypes: ['smollm3'],
  config: smolConfig,
  ...llamaLike<z.output<typeof smolConfig>>((c) => {
    const sizes = llamaSizes(c);
    const turns = (layer: number) =>
      c.no_rope_layers ? c.no_rope_layers[layer] === 1 : (layer + 1) % c.no_rope_layer_interval !== 0;
    return {
      ...sizes,
      bias: { ...sizes.bias, feedForward: c.mlp_bias },
      rotary: (layer) => (turns(layer) ? c : undefined),
      window: windowOf(
        { ...c, sliding_window: c.use_sliding_window ? c.sliding_window : null },
        (layer) => !turns(layer),
      ),
    };
  }),
});
