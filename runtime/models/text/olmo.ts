import * as z from 'zod';
import { defineFamily } from '../family.js';
import { float } from '../writer/attributes.js';
import type { NormOptions } from '../layers/norm.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { llamaConfig, llamaSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

/** Decoders with Llama's attention and LayerNorms: OLMo, StarCoder2, Nemotron. */

const olmoConfig = z.object({
  ...llamaConfig,
  vocab_size: size.default(50_304),
  pad_token_id: z.int().nullable().default(1),
  clip_qkv: z.number().positive().nullish(),
});

/** A LayerNorm that has learned nothing. */
function plainNorm(g: GraphWriter, x: Value, _name: string, { width }: NormOptions): Value {
  const ones = g.floats(new Float32Array(width).fill(1));
  return g.node('LayerNormalization', [x, ones], { axis: -1, epsilon: float(1e-5) });
}

/** modeling_olmo.py */
export const olmo = defineFamily({
  modelTypes: ['olmo'],
  config: olmoConfig,
  ...llamaLike<z.output<typeof olmoConfig>>((c) => ({
    ...llamaSizes(c),
    clip: c.clip_qkv ?? undefined,
    norm: plainNorm,
  })),
});
