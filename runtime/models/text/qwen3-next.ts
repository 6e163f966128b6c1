import * as z from 'zod';
import { gatedAttention } from '../bases/decoder/gated-attention.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { type LayerNames, llamaLike } from '../bases/decoder/llama-decoder.js';
import {
  count,
  isMixed,
  mixedLayers,
  mixtureConfig,
  mixtureWithShared,
  sharedExpertConfig,
} from '../bases/decoder/mixed-layers.js';
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
import { headGroup } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { partialRotaryConfig } from '../layers/rope-frequencies.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const config = z
  .object({
    ...llamaConfig,
    ...partialRotaryConfig,
    ...usualSizes({ vocabulary: 151_936, width: 2048, inner: 5632, layers: 48, heads: 16 }),
    ...{ num_key_value_heads: size.nullable().default(2), head_dim: size.nullable().default(256) },
    max_position_embeddings: size.default(32_768),
    ...{ ...deltaConfig, ...attendingLayers },
    ...{ ...mixtureConfig, ...mixedLayers, ...sharedExpertConfig },
    ...{ num_experts: count.default(512), num_experts_per_tok: z.int().min(1).max(1024).default(10) },
    norm_topk_prob: z.boolean().default(true),
  })
  .superRefine(hasAttention);
type Config = z.output<typeof config>;

/** What belongs to one head of keys stands together: its query and key, then values and gates of the heads that it serves. */
function associate(
  g: GraphWriter,
  x: Value,
  inputs: DecoderInputs,
  { layer, at: ofLayer, c }: LayerNames & { c: Config },
): Value {
  const at = (name: string) => ofLayer(`linear_attn.${name}`);
  const { hidden_size: from, linear_num_key_heads: keyHeads, linear_num_value_heads: heads } = c;
  const { linear_key_head_dim: keyWidth, linear_value_head_dim: valueWidth } = c;
  const each = headGroup(heads, keyHeads);
  const parts = (name: string, sizes: readonly number[], isExact: boolean): Value[] => {
    const to = keyHeads * sizes.reduce((a, b) => a + b);
    const all = linear(g, x, at(name), { from, to, bias: false, isExact });
    const byHead = g.node('Reshape', [all, g.ints([0, 0, keyHeads, to / keyHeads])]);
    const split = g.nodes('Split', [byHead, g.ints(sizes)], {
      outputs: sizes.length,
      attributes: { axis: 3 },
    });
    return split.map((part, i) => g.node('Reshape', [part, g.ints([0, 0, keyHeads * sizes[i]!])]));
  };
  const own = each * valueWidth;
  const [query, key, value, gate] = parts('in_proj_qkvz', [keyWidth, keyWidth, own, own], false) as [
    ...[Value, Value, Value, Value],
  ];
  const [share, steps] = parts('in_proj_ba', [each, each], true) as [Value, Value];
  const mixed = g.node('Concat', [query, key, value], { axis: -1 });
  return deltaNet(g, inputs, { mixed, gate, share, steps }, { layer, at, c });
}

/** Most layers learn associations, every fourth one attends; behind each are experts. modeling_qwen3_next.py */
export const qwen3Next = defineFamily({
  modelTypes: ['qwen3_next'],
  memory: { keyLayers: attendingCount },
  config,
  ...llamaLike<Config>((c) => {
    const sizes = llamaSizes(c);
    const rotary = { ...c, partial_rotary_factor: c.partial_rotary_factor ?? 0.25 };
    const mixed = mixtureWithShared(c);
    return {
      ...sizes,
      normOffset: 1,
      attend: (g, x, inputs, of) =>
        attends(c, of.layer)
          ? gatedAttention(g, x, inputs, { ...sizes, ...of, rotary, normOffset: 1 })
          : associate(g, x, inputs, { ...of, c }),
      feedForward: (g, x, at, layer) => (isMixed(c, layer) ? mixed(g, x, at) : undefined),
    };
  }),
});
