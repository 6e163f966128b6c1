import * as z from 'zod';
import { defineFamily } from '../family.js';
import { float } from '../writer/attributes.js';
import type { NormOptions } from '../layers/norm.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon, size } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { twoLayers } from '../bases/decoder/layer-norms.js';

const nemotronConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 256_000, width: 6144, inner: 24_576, layers: 32, heads: 48 }),
  max_position_embeddings: size.default(4096),
  norm_eps: epsilon.default(1e-5),
  hidden_act: z.string().default('relu2'),
  partial_rotary_factor: z.number().positive().max(1).default(0.5),
  mlp_bias: z.boolean().default(false),
});

/** A LayerNorm that stores what its weight differs from 1. */
function shiftedNorm(g: GraphWriter, x: Value, name: string, { width, epsilon: at }: NormOptions): Value {
  const weight = g.node('Add', [g.weight(`${name}.weight`, [width]), g.scalar(1)]);
  const inputs = [x, weight, g.weight(`${name}.bias`, [width])];
  return g.node('LayerNormalization', inputs, { axis: -1, epsilon: float(at) });
}

/** modeling_nemotron.py */
export const nemotron = defineFamily({
  modelTypes: ['nemotron'],
  config: nemotronConfig,
  ...llamaLike<z.output<typeof nemotronConfig>>((c) => ({
    ...llamaSizes(c),
    epsilon: c.norm_eps,
    norm: shiftedNorm,
    feedForward: twoLayers(c, { names: ['up_proj', 'down_proj'], bias: c.mlp_bias }),
  })),
});
