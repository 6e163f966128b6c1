import { named } from '../inert-fields.js';
import * as z from 'zod';
import {
  llamaConfig,
  llamaSizes,
  usualSizes,
  windowConfig,
  windowOf,
} from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { mixture, mixtureConfig } from '../bases/decoder/mixed-layers.js';
import { count, listedLayers } from '../bases/decoder/routed-experts.js';
import { eachLayerIn, size } from '../config-fields.js';
import { defineFamily } from '../family.js';

const config = z
  .object({
    ...llamaConfig,
    ...windowConfig,
    ...mixtureConfig,
    ...listedLayers,
    ...usualSizes({ vocabulary: 98_304, width: 2304, inner: 7168, layers: 28, heads: 32 }),
    ...{ num_key_value_heads: size.nullable().default(4), head_dim: size.nullable().default(128) },
    max_position_embeddings: size.default(131_072),
    ...{
      rope_theta: z.number().positive().default(500_000),
      rope_local_base_freq: z.number().positive().default(1e4),
    },
    rope_local_scaling: z.record(z.string(), z.unknown()).nullish(),
    sliding_window: z.int().min(1).nullable().default(1024),
    ...{ num_experts: count.default(64), moe_intermediate_size: size.default(896) },
    norm_topk_prob: z.boolean().default(true),
  })
  .refine(...eachLayerIn('mlp_layer_types'));

type Mellum = z.output<typeof config>;

/** Qwen 3's mixtures, whose layers with a window turn their heads by other frequencies. modeling_mellum.py */
export const mellum = defineFamily({
  modelTypes: ['mellum'],
  inert: [
    {
      fields: named('mtp_layer_types', 'mtp_mlp_layer_types'),
      reason: 'layers that guess several tokens, whose weights Python ignores',
    },
  ],
  config,
  ...llamaLike<Mellum>((c) => {
    const mixed = mixture(c, c.moe_intermediate_size);
    const slides = (layer: number) => c.layer_types?.[layer] === 'sliding_attention';
    const local = { ...c, rope_theta: c.rope_local_base_freq, rope_scaling: c.rope_local_scaling };
    return {
      ...llamaSizes(c),
      headNorms: 'head',
      window: windowOf(c, slides),
      rotary: (layer) => (slides(layer) ? local : c),
      feedForward: (g, x, at, layer) =>
        c.mlp_layer_types?.[layer] === 'dense' ? undefined : mixed(g, x, at),
    };
  }),
});
