import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { epsilon, size } from '../config.js';
import { llamaConfig, llamaSizes, usualSizes, windowConfig, windowOf } from './config.js';
import { partialRotaryConfig } from '../../blocks/rotary-frequencies.js';
import { llamaLike } from './llama-like.js';

const olmo2Config = z.object({
  ...llamaConfig,
  vocab_size: size.default(50_304),
  rms_norm_eps: epsilon.default(1e-5),
  pad_token_id: z.int().nullable().default(1),
});

/** Norms stand after attention and feed-forward; those of queries and keys go over all heads. modeling_olmo2.py */
export const olmo2 = defineArchitecture({
  modelTypes: ['olmo2'],
  config: olmo2Config,
  ...llamaLike<z.output<typeof olmo2Config>>((c) => ({
    ...llamaSizes(c),
    norms: 'after',
    headNorms: 'whole',
  })),
});

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
export const smollm3 = defineArchitecture({
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

const phi3Config = z.object({
  ...llamaConfig,
  ...partialRotaryConfig,
  ...usualSizes({ vocabulary: 32_064, width: 3072, inner: 8192, layers: 32, heads: 32 }),
  rms_norm_eps: epsilon.default(1e-5),
  max_position_embeddings: z.int().min(1).default(4096),
  original_max_position_embeddings: z.int().min(1).default(4096),
  sliding_window: z.int().min(1).nullish(),
  pad_token_id: z.int().nullable().default(32_000),
});

/** Fused projections. modeling_phi3.py */
export const phi3 = defineArchitecture({
  modelTypes: ['phi3'],
  config: phi3Config,
  ...llamaLike<z.output<typeof phi3Config>>((c) => ({
    ...llamaSizes(c),
    bias: {},
    fused: true,
    window: () => c.sliding_window ?? undefined,
  })),
});
