import * as z from 'zod';
import { defineFamily } from '../family.js';
import { epsilon, size } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { twoLayers } from '../bases/decoder/layer-norms.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

const arceeConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 32_000, width: 2560, inner: 18_432, layers: 32, heads: 32 }),
  hidden_act: z.string().default('relu2'),
  max_position_embeddings: size.default(4096),
  rms_norm_eps: epsilon.default(1e-5),
  mlp_bias: z.boolean().default(false),
});

/** modeling_arcee.py */
export const arcee = defineFamily({
  modelTypes: ['arcee'],
  config: arceeConfig,
  ...llamaLike<z.output<typeof arceeConfig>>((c) => ({
    ...llamaSizes(c),
    feedForward: twoLayers(c, { names: ['up_proj', 'down_proj'], bias: c.mlp_bias }),
  })),
});
