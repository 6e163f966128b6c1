import * as z from 'zod';
import { latentModel } from '../bases/decoder/deepseek-decoder.js';
import { llamaConfig, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { epsilon, size } from '../config-fields.js';
import { defineFamily, WHOLE_KEYS } from '../family.js';
import { headWidth } from '../layers/head-sizes.js';
import { latentConfig, latentHeadWidth, rank } from '../layers/latent-attention.js';

const config = z.object({
  ...llamaConfig,
  ...latentConfig,
  ...usualSizes({ vocabulary: 73_448, width: 2560, inner: 6400, layers: 62, heads: 40 }),
  num_key_value_heads: size.nullable().default(40),
  max_position_embeddings: size.default(32_768),
  rms_norm_eps: epsilon.default(1e-5),
  tie_word_embeddings: z.boolean().default(true),
  mlp_bias: z.boolean().default(false),
  ...{ kv_lora_rank: rank.default(256), q_lora_rank: rank.nullable().default(768) },
  ...{ qk_nope_head_dim: rank.default(64), qk_rope_head_dim: rank.default(32) },
  v_head_dim: rank.nullable().default(null),
  scale_emb: z.number().default(12),
  scale_depth: z.number().nullable().default(1.4),
  dim_model_base: z.number().positive().nullable().default(256),
});

type MiniCpm3 = z.output<typeof config>;

const withValues = (c: MiniCpm3) => ({
  ...c,
  v_head_dim: c.v_head_dim ?? headWidth(c.hidden_size, c.num_attention_heads),
});

/** Latent attention whose heads turn by halves; factors of embeddings, layers and scores. modeling_minicpm3.py */
export const minicpm3 = defineFamily({
  modelTypes: ['minicpm3'],
  memory: { headWidth: (c: MiniCpm3) => latentHeadWidth(withValues(c)) },
  limits: [WHOLE_KEYS],
  config,
  ...llamaLike<MiniCpm3>((c) => ({
    ...latentModel(withValues(c), { scale: 1, interleaved: false }),
    bias: { feedForward: c.mlp_bias },
    embedScale: c.scale_emb,
    residualScale: c.scale_depth === null ? 1 : c.scale_depth / Math.sqrt(c.num_hidden_layers),
    scoresScale: (c.dim_model_base ?? c.hidden_size) / c.hidden_size,
  })),
});
