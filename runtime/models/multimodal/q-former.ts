import * as z from 'zod';
import { epsilon, layers, size } from '../config-fields.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { linear } from '../layers/linear.js';
import { layerNorm, skipLayerNorm } from '../layers/norm.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** BERT's layers over learned queries, every so many of which look at a picture, too. */
export const queryFormer = z.object({
  hidden_size: size.default(768),
  num_hidden_layers: layers.default(12),
  num_attention_heads: size.default(12),
  intermediate_size: size.default(3072),
  hidden_act: z.string().default('gelu'),
  layer_norm_eps: epsilon.default(1e-12),
  cross_attention_frequency: z.int().min(1).max(1024).default(2),
  position_embedding_type: z.literal('absolute').default('absolute'),
});
export type QueryFormer = z.output<typeof queryFormer>;

export interface Queries {
  /** Learnt vectors of this name. */
  name: string;
  count: number;
  /** What is looked at: float32 [rows, patches, width]. */
  seen: Value;
  width: number;
}

/** What the queries have found: float32 [rows, count, width]. */
export function queried(g: GraphWriter, c: QueryFormer, queries: Queries): Value {
  const { hidden_size: width } = c;
  const rows = g.node('Shape', [queries.seen], { start: 0, end: 1 });
  const shape = g.node('Concat', [rows, g.ints([1, 1])], { axis: 0 });
  const learned = g.weight(queries.name, [1, queries.count, width]);
  const normed = layerNorm(g, learned, 'qformer.layernorm', { width, epsilon: c.layer_norm_eps });
  let x = g.node('Expand', [normed, shape]);
  for (let i = 0; i < c.num_hidden_layers; i++) x = layer(g, x, c, { ...queries, number: i });
  return x;
}

function layer(g: GraphWriter, x: Value, c: QueryFormer, of: Queries & { number: number }): Value {
  const at = (name: string) => `qformer.encoder.layer.${of.number}.${name}`;
  const { hidden_size: width, intermediate_size: inner } = c;
  const attends = (read: Value, part: string, seen: Value, from: number) =>
    attended(g, read, c, { at: (name) => at(`${part}.${name}`), seen, from });
  const own = attends(x, 'attention', x, width);
  const looks = of.number % c.cross_attention_frequency === 0;
  const found = looks ? attends(own, 'crossattention', of.seen, of.width) : own;
  const wide = linear(g, found, at('intermediate_query.dense'), { from: width, to: inner });
  const narrow = linear(g, activation(g, wide, c.hidden_act), at('output_query.dense'), {
    ...{ from: inner, to: width },
  });
  return behind(g, [narrow, found], at('output_query.LayerNorm'), c);
}

interface Look {
  at: (name: string) => string;
  seen: Value;
  from: number;
}

function attended(g: GraphWriter, x: Value, c: QueryFormer, { at, seen, from }: Look): Value {
  const { hidden_size: width, num_attention_heads: heads } = c;
  const one = (read: Value, name: string, wide: number) =>
    linear(g, read, at(`attention.${name}`), { from: wide, to: width });
  const projected = {
    query: one(x, 'query', width),
    key: one(seen, 'key', from),
    value: one(seen, 'value', from),
  };
  const found = attention(g, projected, { heads, width });
  const added = linear(g, found, at('output.dense'), { from: width, to: width });
  return behind(g, [added, x], at('output.LayerNorm'), c);
}

const behind = (g: GraphWriter, sum: readonly [Value, Value], name: string, c: QueryFormer): Value =>
  skipLayerNorm(g, sum, name, { width: c.hidden_size, epsilon: c.layer_norm_eps });
