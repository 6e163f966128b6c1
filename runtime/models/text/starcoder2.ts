import * as z from 'zod';
import { defineFamily } from '../family.js';
import { layerNorm } from '../layers/norm.js';
import { epsilon, size } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { twoLayers } from '../bases/decoder/layer-norms.js';

const starcoderConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 49_152, width: 3072, inner: 12_288, layers: 30, heads: 24 }),
  max_position_embeddings: size.default(4096),
  norm_epsilon: epsilon.default(1e-5),
  num_key_value_heads: z.int().min(1).nullable().default(2),
  hidden_act: z.string().default('gelu_pytorch_tanh'),
  sliding_window: z.int().min(1).nullish(),
  tie_word_embeddings: z.boolean().default(true),
  use_bias: z.boolean().default(true),
});

/** modeling_starcoder2.py */
export const starcoder2 = defineFamily({
  modelTypes: ['starcoder2'],
  config: starcoderConfig,
  ...llamaLike<z.output<typeof starcoderConfig>>((c) => ({
    ...llamaSizes(c),
    epsilon: c.norm_epsilon,
    bias: { projections: c.use_bias, output: c.use_bias },
    norm: layerNorm,
    window: () => c.sliding_window ?? undefined,
    feedForward: twoLayers(c, { names: ['c_fc', 'c_proj'], bias: c.use_bias }),
  })),
});
