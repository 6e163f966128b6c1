import * as z from 'zod';
import { epsilon, layers, size } from '../config-fields.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { embedding, linear } from '../layers/linear.js';
import { layerNorm, skipLayerNorm } from '../layers/norm.js';
import { positionsOf } from '../layers/text-inputs.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** BERT's layers over learned queries, every so many of which look at an image, too. */
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
  /** Learned vectors of this name. */
  name: string;
  count: number;
  /** What is looked at: float32 [rows, patches, width]. */
  seen: Value;
  width: number;
  /** Of an encoder that reads a text beside the queries: its tokens int64 [rows, tokens], and the rows of its tables. */
  text?: { ids: Value; vocabulary: number; positions: number };
}

/** What the queries have found: float32 [rows, count, width]. */
export function queried(g: GraphWriter, c: QueryFormer, queries: Queries): Value {
  const { hidden_size: width } = c;
  const rows = g.node('Shape', [queries.seen], { start: 0, end: 1 });
  const shape = g.node('Concat', [rows, g.ints([1, 1])], { axis: 0 });
  const learned = g.weight(queries.name, [1, queries.count, width]);
  const norm = { width, epsilon: c.layer_norm_eps };
  if (queries.text) {
    const all = [g.node('Expand', [learned, shape]), words(g, queries.text, width)];
    const normed = layerNorm(g, g.node('Concat', all, { axis: 1 }), 'qformer.embeddings.layernorm', norm);
    return partOf(g, layersOver(g, normed, c, queries), 0, queries.count);
  }
  const normed = layerNorm(g, learned, 'qformer.layernorm', norm);
  return layersOver(g, g.node('Expand', [normed, shape]), c, queries);
}

function layersOver(g: GraphWriter, first: Value, c: QueryFormer, queries: Queries): Value {
  let x = first;
  for (let i = 0; i < c.num_hidden_layers; i++) x = layer(g, x, c, { ...queries, number: i });
  return x;
}

/** Vectors of the tokens of a text and of their positions: float32 [rows, tokens, width]. */
function words(g: GraphWriter, text: NonNullable<Queries['text']>, width: number): Value {
  const at = (name: string) => `qformer.embeddings.${name}`;
  const tokens = embedding(g, text.ids, at('word_embeddings'), { rows: text.vocabulary, width });
  const positions = embedding(g, positionsOf(g, text.ids), at('position_embeddings'), {
    rows: text.positions,
    width,
  });
  return g.node('Add', [tokens, positions]);
}

const partOf = (g: GraphWriter, x: Value, from: number, to: number): Value =>
  g.node('Slice', [x, g.ints([from]), g.ints([to]), g.ints([1])]);

/** Behind all tokens of a text. */
const END = 2 ** 31 - 1;

function layer(g: GraphWriter, x: Value, c: QueryFormer, of: Queries & { number: number }): Value {
  const at = (name: string) => `qformer.encoder.layer.${of.number}.${name}`;
  const { hidden_size: width, intermediate_size: inner } = c;
  const attends = (read: Value, part: string, seen: Value, from: number) =>
    attended(g, read, c, { at: (name) => at(`${part}.${name}`), seen, from });
  const both = attends(x, 'attention', x, width);
  const own = of.text ? partOf(g, both, 0, of.count) : both;
  const looks = of.number % c.cross_attention_frequency === 0;
  const found = looks ? attends(own, 'crossattention', of.seen, of.width) : own;
  const fed = (read: Value, kind: string) => {
    const wide = linear(g, read, at(`intermediate${kind}.dense`), { from: width, to: inner });
    const active = activation(g, wide, c.hidden_act);
    const narrow = linear(g, active, at(`output${kind}.dense`), { from: inner, to: width });
    return behind(g, [narrow, read], at(`output${kind}.LayerNorm`), c);
  };
  const queries = fed(found, '_query');
  // What the last layer makes of the text is not read.
  if (!of.text || of.number === c.num_hidden_layers - 1) return queries;
  return g.node('Concat', [queries, fed(partOf(g, both, of.count, END), '')], { axis: 1 });
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
