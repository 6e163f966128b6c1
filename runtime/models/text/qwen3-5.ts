import * as z from 'zod';
import { gatedAttention } from '../bases/decoder/gated-attention.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { type LayerNames, llamaLike, type LlamaLike } from '../bases/decoder/llama-decoder.js';
import { size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import type { DecoderInputs } from '../layers/decoder-inputs.js';
import {
  attendingCount,
  attendingLayers,
  attends,
  deltaConfig,
  deltaNet,
  hasAttention,
} from '../layers/delta-net.js';
import { linear } from '../layers/linear.js';
import { partialRotaryConfig } from '../layers/rope-frequencies.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

export const qwen35Fields = {
  ...llamaConfig,
  ...partialRotaryConfig,
  ...usualSizes({ vocabulary: 248_320, width: 4096, inner: 12_288, layers: 32, heads: 16 }),
  ...{ num_key_value_heads: size.nullable().default(4), head_dim: size.nullable().default(256) },
  max_position_embeddings: size.default(32_768),
  ...{ ...deltaConfig, ...attendingLayers },
};

export const qwen35Config = z.object(qwen35Fields).superRefine(hasAttention);
export type Qwen35Config = z.output<typeof qwen35Config>;

/** Queries, keys and values are one projection; what says how they are learned is small, and stays exact. */
function associate(
  g: GraphWriter,
  x: Value,
  inputs: DecoderInputs,
  { layer, at: ofLayer, c }: LayerNames & { c: Qwen35Config },
): Value {
  const at = (name: string) => ofLayer(`linear_attn.${name}`);
  const [from, heads] = [c.hidden_size, c.linear_num_value_heads];
  const values = heads * c.linear_value_head_dim;
  const all = 2 * c.linear_num_key_heads * c.linear_key_head_dim + values;
  const project = (name: string, to: number, isExact = false) =>
    linear(g, x, at(`in_proj_${name}`), { from, to, bias: false, isExact });
  const projected = {
    ...{ mixed: project('qkv', all), gate: project('z', values) },
    ...{ share: project('b', heads, true), steps: project('a', heads, true) },
  };
  return deltaNet(g, inputs, projected, { layer, at, c });
}

/** Of all dimensions of a head. */
export const turnedPart = (c: Qwen35Config): number => c.partial_rotary_factor ?? 0.25;

/** @param axes of positions, for each frequency, where there are several */
export function qwen35Model(c: Qwen35Config, axes?: readonly number[]): LlamaLike {
  const sizes = llamaSizes(c);
  const rotary = { ...c, partial_rotary_factor: turnedPart(c), ...(axes && { axes }) };
  return {
    ...sizes,
    bias: {},
    normOffset: 1,
    attend: (g, x, inputs, of) =>
      attends(c, of.layer)
        ? gatedAttention(g, x, inputs, { ...sizes, ...of, rotary, normOffset: 1 })
        : associate(g, x, inputs, { ...of, c }),
  };
}

/** Most layers learn associations, every fourth one attends, its answers behind a gate. modeling_qwen3_5.py */
export const qwen35 = defineFamily({
  modelTypes: ['qwen3_5_text'],
  memory: { keyLayers: attendingCount },
  config: qwen35Config,
  ...llamaLike<Qwen35Config>((c) => qwen35Model(c)),
});
