import * as z from 'zod';
import { llamaLike, type LlamaLike } from '../bases/decoder/llama-decoder.js';
import { count, mixtureWithShared, sharedExpertConfig } from '../bases/decoder/mixed-layers.js';
import { layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { attendingCount, hasAttention } from '../layers/delta-net.js';
import { qwen35Fields, qwen35Model } from './qwen3-5.js';

export const qwen35MoeConfig = z
  .object({
    ...qwen35Fields,
    ...{ hidden_size: size.default(2048), num_hidden_layers: layers.default(40) },
    num_attention_heads: size.default(16),
    num_key_value_heads: size.nullable().default(2),
    // Behind every layer are experts alone.
    intermediate_size: size.default(1),
    ...{ ...sharedExpertConfig, num_experts: count.min(1).default(256) },
    num_experts_per_tok: z.int().min(1).max(1024).default(8),
  })
  .superRefine(hasAttention);
type Config = z.output<typeof qwen35MoeConfig>;

/** @param axes of positions, for each frequency, where there are several */
export function qwen35MoeModel(c: Config, axes?: readonly number[]): LlamaLike {
  const mixed = mixtureWithShared({ ...c, norm_topk_prob: true });
  return { ...qwen35Model(c, axes), feedForward: (g, x, at) => mixed(g, x, at) };
}

/** Qwen3.5 with experts behind every layer, whose shares always sum up to 1. modeling_qwen3_5_moe.py */
export const qwen35Moe = defineFamily({
  modelTypes: ['qwen3_5_moe_text'],
  memory: { keyLayers: attendingCount },
  config: qwen35MoeConfig,
  ...llamaLike<Config>((c) => qwen35MoeModel(c)),
});
