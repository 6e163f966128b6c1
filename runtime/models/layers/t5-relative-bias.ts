import { GraphError } from '../writer/errors.js';
import { ELEMENTS } from '../writer/tensors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

export interface Buckets {
  /** Rows of the table. */
  count: number;
  /** All distances from here on are in the last one. */
  farthest: number;
  /** True where keys behind the query have buckets of their own. */
  bothWays: boolean;
}

/**
 * T5's buckets of distances: one each for near ones, for far ones by their logarithm.
 * @param distance int64, of the key from the query
 * @returns int64 of the same shape
 * @throws GraphError where no bucket is left for far ones
 */
export function relativeBuckets(
  g: GraphWriter,
  distance: Value,
  { count, farthest, bothWays }: Buckets,
): Value {
  const half = bothWays ? Math.floor(count / 2) : count;
  const near = Math.floor(half / 2);
  if (near < 1 || farthest <= near)
    throw new GraphError(`config.json: ${count} buckets of distances reach beyond the farthest, ${farthest}`);
  const scalar = (value: number) => g.ints([value], []);
  const far = bothWays ? g.node('Abs', [distance]) : g.node('Max', [g.node('Neg', [distance]), scalar(0)]);
  const ratio = g.node('Div', [g.node('Cast', [far], { to: ELEMENTS.float32 }), g.scalar(near)]);
  const scale = g.scalar(Math.log(farthest / near));
  const share = g.node('Div', [g.node('Log', [g.node('Max', [ratio, g.scalar(1)])]), scale]);
  const grown = g.node('Cast', [g.node('Mul', [share, g.scalar(half - near)])], { to: ELEMENTS.int64 });
  const large = g.node('Min', [g.node('Add', [grown, scalar(near)]), scalar(half - 1)]);
  const bucket = g.node('Where', [g.node('Less', [far, scalar(near)]), far, large]);
  if (!bothWays) return bucket;
  const isBehind = g.node('Cast', [g.node('Greater', [distance, scalar(0)])], { to: ELEMENTS.int64 });
  return g.node('Add', [bucket, g.node('Mul', [isBehind, scalar(half)])]);
}

/** What a table [buckets, heads] adds to scores: float32 [1, heads, queries, keys] for int64 [queries, keys]. */
export function bucketBias(g: GraphWriter, buckets: Value, table: Value): Value {
  return bucketBiasByRow(g, g.node('Unsqueeze', [buckets, g.ints([0])]), table);
}

/** The same for each row: float32 [rows, heads, queries, keys] for int64 [rows, queries, keys]. */
export function bucketBiasByRow(g: GraphWriter, buckets: Value, table: Value): Value {
  return g.node('Transpose', [g.node('Gather', [table, buckets])], { perm: [0, 3, 1, 2] });
}
