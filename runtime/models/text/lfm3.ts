import * as z from 'zod';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { eachLayerIn, epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import { convolutional, EXPERT_NAMES } from './lfm2.js';

/** What Python takes where a file says nothing of rope. */
const SCALING = { rope_type: 'proportional', partial_rotary_factor: 0.5 };

const config = z
  .object({
    ...llamaConfig,
    ...usualSizes({ vocabulary: 128_000, width: 2048, inner: 7680, layers: 24, heads: 16 }),
    ...{ num_key_value_heads: size.default(4), head_dim: size.default(128) },
    max_position_embeddings: size.default(128_000),
    rope_theta: z.number().positive().default(1e6),
    rope_scaling: z.record(z.string(), z.unknown()).nullable().default(SCALING),
    rope_local_base_freq: z.number().positive().default(1e4),
    rope_local_scaling: z.null('is not known for layers with a window').optional(),
    partial_rotary_factor: z.null('is read by Python for proportional heads alone').optional(),
    norm_eps: epsilon.default(1e-5),
    pad_token_id: z.int().nullable().default(124_893),
    tie_word_embeddings: z.boolean().default(true),
    ...{ conv_bias: z.boolean().default(false), conv_L_cache: z.int().min(2).max(64).default(7) },
    sliding_window: z.int().min(1).default(256),
    layer_types: z.array(z.enum(['full_attention', 'sliding_attention', 'conv'])).nullish(),
    ...{ use_sandwich_norm: z.boolean().default(true), use_attention_gate: z.boolean().default(true) },
  })
  .refine(...eachLayerIn('layer_types'));
type Config = z.output<typeof config>;

/** Where no list says it, every other layer attends from the third one on, in turn to all and in a window. */
function kindOf({ layer_types: types }: Config, layer: number): string {
  if (types) return types[layer]!;
  if (layer % 4 === 2) return 'full_attention';
  return layer % 4 === 0 && layer > 0 ? 'sliding_attention' : 'conv';
}

/** Short convolutions as in LFM2, layers with a window, norms on both sides, and a gate for each head. modeling_lfm3.py */
export const lfm3 = defineFamily({
  modelTypes: ['lfm3'],
  config,
  // What its makers called it.
  older: { '.self_attn.g_proj.weight': '.self_attn.gate_proj.weight' },
  ...llamaLike<Config>((c) => {
    const slides = (layer: number) => kindOf(c, layer) === 'sliding_attention';
    const local = { ...c, rope_theta: c.rope_local_base_freq, rope_scaling: null };
    const { names, ...shared } = convolutional(c, (layer) => kindOf(c, layer) !== 'conv');
    const sizes = llamaSizes(c);
    return {
      ...sizes,
      ...{ ...shared, bias: sizes.bias },
      names: { norm: names.norm, attentionNorm: names.attentionNorm, feedForwardNorm: names.feedForwardNorm },
      ...(c.use_sandwich_norm && { norms: 'around', normsBehind: ['post_operator_norm', 'post_ffn_norm'] }),
      ...(c.use_attention_gate && { headGate: 'self_attn.g_proj' }),
      rotary: (layer) => (slides(layer) ? local : c),
      window: (layer) => (slides(layer) ? c.sliding_window : undefined),
      feedForward: (g, x, at) =>
        gatedFeedForward(g, x, (name) => at(`feed_forward.${name}`), {
          ...{ width: c.hidden_size, inner: c.intermediate_size, act: 'silu', names: EXPERT_NAMES },
        }),
    };
  }),
});
