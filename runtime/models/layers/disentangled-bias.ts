import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { matMulTransposed } from './linear.js';

export interface DisentangledBias {
  heads: number;
  /** Of a head. */
  width: number;
  /** What scores are multiplied with. */
  scale: number;
  /** int64 [tokens]: 0, 1, 2, … */
  positions: Value;
  /** Rows of vectors of distances for the distances from -n to n; those beyond have the outermost. */
  rows: readonly number[];
  /** Vectors of distances that queries are compared with, float32 [vectors, heads · width]; none if absent. */
  keys?: Value | undefined;
  /** Those that keys are compared with. */
  queries?: Value | undefined;
}

/**
 * DeBERTa's bias: what comparing queries and keys with vectors of their distance adds to scores, float32
 * [rows, heads, tokens, tokens]; undefined where neither is compared.
 */
export function disentangledBias(
  g: GraphWriter,
  { query, key }: { query: Value; key: Value },
  { keys, queries, ...options }: DisentangledBias,
): Value | undefined {
  const byQuery = keys && compared(g, query, keys, { ...options, ascending: false });
  const byKey =
    queries &&
    g.node('Transpose', [compared(g, key, queries, { ...options, ascending: true })], { perm: [0, 1, 3, 2] });
  return byQuery && byKey ? g.node('Add', [byQuery, byKey]) : (byQuery ?? byKey);
}

type Compared = Omit<DisentangledBias, 'keys' | 'queries'> & { ascending: boolean };

/**
 * Each token's vector times those of its distance to each other token, float32 [rows, heads, tokens, tokens]. Only the
 * distances of this run are computed, in an order in which each token's stand one position further than those of the token
 * after it, so a shift takes the place of an index for every pair of tokens.
 * @param x float32 [rows, tokens, heads · width]
 */
function compared(
  g: GraphWriter,
  x: Value,
  vectors: Value,
  { heads, width, scale, positions, rows, ascending }: Compared,
): Value {
  const found = g.node('Gather', [vectors, lines(g, positions, rows, ascending)]);
  const perHead = g.node('Transpose', [g.node('Reshape', [found, g.ints([-1, heads, width])])], {
    perm: [1, 0, 2],
  });
  const split = g.node('Transpose', [g.node('Reshape', [x, g.ints([0, 0, heads, width])])], {
    perm: [0, 2, 1, 3],
  });
  return shifted(g, matMulTransposed(g, split, perHead, scale), countOf(g, positions));
}

/** int64 [1] */
const countOf = (g: GraphWriter, positions: Value): Value =>
  g.once(`count ${positions}`, () => g.node('Shape', [positions]));

/** int64 [2 · tokens]: rows for the distances from 1 - tokens to tokens, or from tokens - 1 to -tokens. */
function lines(g: GraphWriter, positions: Value, rows: readonly number[], ascending: boolean): Value {
  return g.once(`distances ${positions} ${ascending}`, () => {
    const count = countOf(g, positions);
    const both = g.node('Concat', [g.node('Sub', [positions, count]), positions], { axis: 0 });
    const distances = g.node('Add', [both, g.ints([1], [])]);
    const most = (rows.length - 1) / 2;
    const signed = ascending ? distances : g.node('Neg', [distances]);
    const known = g.node('Clip', [signed, g.ints([-most], []), g.ints([most], [])]);
    return g.node('Gather', [g.ints(rows), g.node('Add', [known, g.ints([most], [])])]);
  });
}

/**
 * The square whose line i is columns tokens - 1 - i to 2 · tokens - 2 - i of x: float32 [rows, heads, tokens, tokens] of
 * [rows, heads, tokens, 2 · tokens]. Lines that are one element shorter start one further to the left each.
 */
function shifted(g: GraphWriter, x: Value, count: Value): Value {
  const flat = g.node('Reshape', [x, g.ints([0, 0, -1])]);
  const start = g.node('Sub', [count, g.ints([1])]);
  const kept = g.node('Slice', [flat, start, g.ints([-1]), g.ints([2])]);
  const shape = g.node('Concat', [g.ints([0, 0]), count, g.ints([-1])], { axis: 0 });
  return g.node('Slice', [g.node('Reshape', [kept, shape]), g.ints([0]), count, g.ints([3])]);
}
