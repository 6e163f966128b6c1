import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { byHead } from './split-heads.js';
import { scoresOfPairs } from './relative-scores.js';
import { headWidth } from './head-sizes.js';
import { matMulTransposed } from './linear.js';
import { distances } from './text-inputs.js';

export interface ClippedDistances {
  /** Of queries. */
  heads: number;
  /** Of all heads together. */
  width: number;
  /** Keys farther before the query, and farther behind it, share the vector of these distances. */
  before: number;
  behind: number;
  /** Distances count from the key to the query, so that `before` and `behind` change places. */
  turned?: boolean;
}

/**
 * What vectors of distances add to scores, as attention() wants it: float32 [rows, heads, tokens, tokens] for queries
 * [rows, tokens, width]. Each query is compared with the table [before + behind + 1, width of a head] once.
 */
export function clippedDistanceBias(
  g: GraphWriter,
  query: Value,
  table: string,
  { heads, width, before, behind, turned = false }: ClippedDistances,
): Value {
  const size = headWidth(width, heads);
  const split = byHead(g, query, heads, size);
  const vectors = g.weight(table, [before + behind + 1, size]);
  const scores = matMulTransposed(g, split, vectors, size ** -0.5);
  const lines = g.once(`distances from -${before} to ${behind}, ${turned}`, () => {
    const [first, last] = [g.ints([-before], []), g.ints([behind], [])];
    const found = turned ? g.node('Neg', [distances(g, query)]) : distances(g, query);
    const clipped = g.node('Max', [g.node('Min', [found, last]), first]);
    return g.node('Unsqueeze', [g.node('Add', [clipped, g.ints([before], [])]), g.ints([2])]);
  });
  return scoresOfPairs(g, scores, lines);
}
