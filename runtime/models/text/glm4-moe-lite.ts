import * as z from 'zod';
import { deepseekConfig, deepseekModel, longScale } from '../bases/decoder/deepseek-decoder.js';
import { usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { sigmoidExperts, count, isDense, listedLayers } from '../bases/decoder/routed-experts.js';
import { eachLayerIn, epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { latentHeadWidth, rank } from '../layers/latent-attention.js';

const config = z
  .object({
    ...deepseekConfig,
    ...usualSizes({ vocabulary: 154_880, width: 2048, inner: 10_240, layers: 47, heads: 20 }),
    ...{ num_key_value_heads: size.nullable().default(20), max_position_embeddings: size.default(202_752) },
    rms_norm_eps: epsilon.default(1e-5),
    ...{ q_lora_rank: rank.nullable().default(768), qk_nope_head_dim: rank.default(192) },
    v_head_dim: rank.default(256),
    moe_intermediate_size: size.default(1536),
    ...{ n_routed_experts: count.default(64), num_experts_per_tok: count.default(4) },
    n_shared_experts: count.default(1),
    routed_scaling_factor: z.number().default(1.8),
    norm_topk_prob: z.boolean().default(true),
    ...{ n_group: count.default(1), topk_group: count.default(1) },
    rope_interleave: z.boolean().default(true),
    ...listedLayers,
  })
  .refine(...eachLayerIn('mlp_layer_types'));

/** DeepSeek 3 with the kinds of its layers in a list. modeling_glm4_moe_lite.py */
export const glm4MoeLite = defineFamily({
  modelTypes: ['glm4_moe_lite'],
  memory: { headWidth: latentHeadWidth },
  config,
  ...llamaLike<z.output<typeof config>>((c) => {
    const model = deepseekModel(
      { ...c, first_k_dense_replace: 0 },
      {
        ...{ scale: longScale(c), interleaved: c.rope_interleave },
        ...sigmoidExperts({ ...c, shut: c.n_group > 1 }),
      },
    );
    return {
      ...model,
      feedForward: (g, x, at, layer) =>
        isDense(c, layer) ? undefined : model.feedForward?.(g, x, at, layer),
    };
  }),
});
