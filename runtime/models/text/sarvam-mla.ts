import * as z from 'zod';
import { deepseekConfig, deepseekModel, longScale } from '../bases/decoder/deepseek-decoder.js';
import { usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { sigmoidExperts, count, sigmoidConfig } from '../bases/decoder/routed-experts.js';
import { size } from '../config-fields.js';
import { defineFamily, WHOLE_KEYS } from '../family.js';
import { latentHeadWidth, rank } from '../layers/latent-attention.js';

const config = z.object({
  ...deepseekConfig,
  ...sigmoidConfig,
  ...usualSizes({ vocabulary: 262_144, width: 4096, inner: 16_384, layers: 32, heads: 64 }),
  max_position_embeddings: size.default(4096),
  q_lora_rank: rank.nullable().default(null),
  n_shared_experts: count.default(1),
  n_routed_experts: count.default(128),
  moe_intermediate_size: size.default(2048),
  num_experts_per_tok: count.default(8),
  first_k_dense_replace: z.int().min(0).default(1),
  routed_scaling_factor: z.number().default(2.5),
  rope_interleave: z.boolean().default(true),
});

/** DeepSeek 3 with sizes of its own. configuration_sarvam_mla.py */
export const sarvamMla = defineFamily({
  modelTypes: ['sarvam_mla'],
  memory: { headWidth: latentHeadWidth },
  limits: [WHOLE_KEYS],
  config,
  ...llamaLike<z.output<typeof config>>((c) =>
    deepseekModel(c, {
      ...{ scale: longScale(c), interleaved: c.rope_interleave },
      ...sigmoidExperts({ ...c, shut: c.n_group > 1 }),
    }),
  ),
});
