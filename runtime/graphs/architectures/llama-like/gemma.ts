import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { size } from '../config.js';
import { llamaConfig, llamaSizes, usualSizes, windowConfig, windowOf } from './config.js';
import { type LlamaLike, llamaLike } from './llama-like.js';

const gemmaConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 256_000, width: 3072, inner: 24_576, layers: 28, heads: 16 }),
  max_position_embeddings: size.default(8192),
  num_key_value_heads: size.nullable().default(16),
  head_dim: z.int().min(1).default(256),
  hidden_act: z.string().default('gelu_pytorch_tanh'),
  tie_word_embeddings: z.boolean().default(true),
  pad_token_id: z.int().nullable().default(0),
});

/** Weights of norms are stored as what differs from 1; vectors of tokens are multiplied by the root of their width. */
const common = (c: z.output<typeof gemmaConfig>): LlamaLike => ({
  ...llamaSizes(c),
  normOffset: 1,
  embedScale: Math.sqrt(c.hidden_size),
});

/** modeling_gemma.py */
export const gemma = defineArchitecture({
  modelTypes: ['gemma'],
  config: gemmaConfig,
  ...llamaLike(common),
});

const cap = z.number().positive().nullish();

const gemma2Config = gemmaConfig.extend({
  ...usualSizes({ vocabulary: 256_000, width: 2304, inner: 9216, layers: 26, heads: 8 }),
  num_key_value_heads: size.nullable().default(4),
  ...windowConfig,
  sliding_window: z.int().min(1).nullable().default(4096),
  hidden_activation: z.string().default('gelu_pytorch_tanh'),
  query_pre_attn_scalar: z.number().positive().default(256),
  attn_logit_softcapping: cap,
  final_logit_softcapping: cap,
});

/** What Gemma 2 and 3 add: norms around attention and feed-forward, and a scale and bounds of their own. */
const around = (c: z.output<typeof gemma2Config>): LlamaLike => ({
  ...common(c),
  act: c.hidden_activation,
  norms: 'around',
  scale: c.query_pre_attn_scalar ** -0.5,
  cap: c.attn_logit_softcapping ?? undefined,
  finalCap: c.final_logit_softcapping ?? undefined,
});

const capped = gemma2Config.extend({
  attn_logit_softcapping: cap.default(50),
  final_logit_softcapping: cap.default(30),
});

/** Every second layer sees a window. modeling_gemma2.py */
export const gemma2 = defineArchitecture({
  modelTypes: ['gemma2'],
  config: capped,
  ...llamaLike<z.output<typeof capped>>((c) => ({
    ...around(c),
    window: windowOf(c, (layer) => layer % 2 === 0),
  })),
});

/** Gemma 2 without norms behind attention and feed-forward. modeling_vaultgemma.py */
export const vaultgemma = defineArchitecture({
  modelTypes: ['vaultgemma'],
  config: capped,
  ...llamaLike<z.output<typeof capped>>((c) => ({
    ...around(c),
    ...{ norms: 'before', names: { feedForwardNorm: 'pre_feedforward_layernorm' } },
    window: windowOf(c, (layer) => layer % 2 === 0),
  })),
});

const gemma3Config = gemma2Config.extend({
  vocab_size: size.default(262_208),
  max_position_embeddings: z.int().min(1).default(131_072),
  rope_theta: z.number().positive().default(1e6),
  rope_local_base_freq: z.number().positive().default(1e4),
  sliding_window_pattern: z.int().min(1).default(6),
  use_bidirectional_attention: z.literal(false).nullish(),
});

/** Layers that see a window turn their heads by other frequencies, which nothing stretches. modeling_gemma3.py */
export const gemma3 = defineArchitecture({
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
