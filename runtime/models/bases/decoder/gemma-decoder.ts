import * as z from 'zod';
import { size } from '../../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes, windowConfig } from './llama-config.js';
import type { LlamaLike } from './llama-decoder.js';

export const gemmaConfig = z.object({
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
export const common = (c: z.output<typeof gemmaConfig>): LlamaLike => ({
  ...llamaSizes(c),
  normOffset: 1,
  embedScale: Math.sqrt(c.hidden_size),
});

const cap = z.number().positive().nullish();

export const gemma2Config = gemmaConfig.extend({
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
export const around = (c: z.output<typeof gemma2Config>): LlamaLike => ({
  ...common(c),
  act: c.hidden_activation,
  norms: 'around',
  scale: c.query_pre_attn_scalar ** -0.5,
  cap: c.attn_logit_softcapping ?? undefined,
  finalCap: c.final_logit_softcapping ?? undefined,
});

export const capped = gemma2Config.extend({
  attn_logit_softcapping: cap.default(50),
  final_logit_softcapping: cap.default(30),
});
