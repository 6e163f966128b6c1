import * as z from 'zod';
import { twoLayers } from '../bases/decoder/layer-norms.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { layerNorm } from '../layers/norm.js';

const config = z
  .object({
    ...llamaConfig,
    ...usualSizes({ vocabulary: 150_272, width: 3328, inner: 26_624, layers: 32, heads: 26 }),
    hidden_act: z.string().default('relu2'),
    max_position_embeddings: size.default(8192),
    layer_norm_eps: epsilon.default(1e-5),
    attention_bias: z.boolean().default(true),
    mlp_bias: z.boolean().default(true),
  })
  .omit({ rms_norm_eps: true });

/** Llama with LayerNorms and two layers in place of gated ones. modeling_jais2.py */
export const jais2 = defineFamily({
  modelTypes: ['jais2'],
  config,
  ...llamaLike<z.output<typeof config>>((c) => ({
    ...llamaSizes({ ...c, rms_norm_eps: c.layer_norm_eps }),
    norm: layerNorm,
    feedForward: twoLayers(c, { names: ['up_proj', 'down_proj'], bias: c.mlp_bias }),
  })),
});
