import * as z from 'zod';
import { defineFamily } from '../family.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { bucketBias, relativeBuckets } from '../layers/t5-relative-bias.js';
import { distances } from '../layers/text-inputs.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { isListed, LISTED, waveConfig } from '../bases/audio/wave-config.js';
import { waveHeads } from '../bases/audio/wave-encoder.js';

const config = z
  .object({
    ...waveConfig,
    num_buckets: z.int().min(4).max(65536).default(320),
    max_bucket_distance: z
      .int()
      .min(2)
      .max(2 ** 20)
      .default(800),
  })
  .refine(isListed, LISTED);
type Config = z.output<typeof config>;

const base = 'wavlm.';

/** How far steps lie apart, of the first layer's table, times what each layer's gates make of its states. */
function gatedBias(g: GraphWriter, read: Value, { c, layer }: { c: Config; layer: number }): Value {
  const heads = c.num_attention_heads;
  const width = headWidth(c.hidden_size, heads);
  const bias = g.once('wavlm distances', () => {
    const buckets = relativeBuckets(g, distances(g, read), {
      ...{ count: c.num_buckets, farthest: c.max_bucket_distance, bothWays: true },
    });
    const table = `${base}encoder.layers.0.attention.rel_attn_embed.weight`;
    return bucketBias(g, buckets, g.weight(table, [c.num_buckets, heads]));
  });
  const at = (name: string) => `${base}encoder.layers.${layer}.attention.${name}`;
  const split = g.node('Reshape', [read, g.ints([0, 0, heads, width])]);
  const byHead = g.node('Transpose', [split], { perm: [0, 2, 1, 3] });
  const eight = linear(g, byHead, at('gru_rel_pos_linear'), { from: width, to: 8 });
  const two = g.node('Reshape', [eight, g.ints([0, 0, -1, 2, 4])]);
  const gates = g.node('Sigmoid', [g.node('ReduceSum', [two, g.ints([4])], { keepdims: 0 })]);
  const [a, b] = g.nodes('Split', [gates, g.ints([1, 1])], { outputs: 2, attributes: { axis: 3 } });
  const constant = g.weight(at('gru_rel_pos_const'), [1, heads, 1, 1]);
  const inner = g.node('Sub', [g.node('Mul', [b!, constant]), g.scalar(1)]);
  const gate = g.node('Add', [g.node('Mul', [a!, inner]), g.scalar(2)]);
  return g.node('Mul', [gate, bias]);
}

/** modeling_wavlm.py */
export const wavlm = defineFamily({
  modelTypes: ['wavlm'],
  config,
  prefixes: [base],
  heads: waveHeads<Config>((c) => ({
    ...{ base, adapters: true, bias: (g, read, layer) => gatedBias(g, read, { c, layer }) },
  })),
});
