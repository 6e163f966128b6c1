import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { headWidth } from './head-sizes.js';
import { linear, matMulTransposed } from './linear.js';
import { allDistances, scoresOfPairs } from './relative-scores.js';
import { sinusoids } from './sinusoids.js';
import { byHead } from './split-heads.js';

export interface DistanceNames {
  /** Of the layer that reads distances, and of what is added to queries as they meet contents and distances. */
  distances: string;
  content: string;
  distance: string;
}

/**
 * Queries as they meet the keys, and the scores of their distances, each with a bias of the queries (Dai et al., 2019).
 * @param query float32 [rows, steps, width]
 */
export function contentAndDistance(
  g: GraphWriter,
  query: Value,
  names: DistanceNames,
  { width, heads }: { width: number; heads: number },
): { query: Value; bias: Value } {
  const each = headWidth(width, heads);
  const moved = (bias: string) =>
    g.node('Add', [query, g.node('Reshape', [g.weight(bias, [heads, each]), g.ints([width])])]);
  const { vectors, lines } = g.once('distances of frames', () => {
    const { all, lines } = allDistances(g, query);
    const halves = sinusoids(g, all, width, (i) => 10_000 ** ((-2 * i) / width));
    // A sine and its cosine are neighbours.
    const order = Array.from({ length: width }, (_, i) => (i % 2 === 0 ? 0 : width / 2) + Math.floor(i / 2));
    return { vectors: g.node('Gather', [halves, g.ints(order)], { axis: 1 }), lines };
  });
  const known = linear(g, vectors, names.distances, { from: width, to: width, bias: false });
  const keys = g.node('Transpose', [g.node('Reshape', [known, g.ints([-1, heads, each])])], {
    perm: [1, 0, 2],
  });
  const scores = matMulTransposed(g, byHead(g, moved(names.distance), heads, each), keys, each ** -0.5);
  return { query: moved(names.content), bias: scoresOfPairs(g, scores, lines) };
}
