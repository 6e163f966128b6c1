import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { matMulTransposed } from './linear.js';
import { allDistances, scoresOfPairs } from './relative-scores.js';
import { byHead } from './split-heads.js';

/** Steps followed by zeros, in whole pieces: float32 [rows, steps, width] -> [rows · pieces, length, width]. */
export function inPieces(g: GraphWriter, x: Value, length: number, width: number): Value {
  const count = g.node('Shape', [x], { start: 1, end: 2 });
  const rest = g.node('Mod', [g.node('Neg', [count]), g.ints([length])]);
  const ends = g.node('Concat', [g.ints([0, 0, 0, 0]), rest, g.ints([0])], { axis: 0 });
  return g.node('Reshape', [g.node('Pad', [x, ends]), g.ints([-1, length, width])]);
}

/** Pieces of inPieces side by side, without what filled them up: [rows · pieces, length, width] -> [rows, steps, width]. */
export function outOfPieces(
  g: GraphWriter,
  pieces: Value,
  { like, width }: { like: Value; width: number },
): Value {
  const rows = g.node('Shape', [like], { start: 0, end: 1 });
  const flat = g.node('Reshape', [pieces, g.node('Concat', [rows, g.ints([-1, width])], { axis: 0 })]);
  return g.node('Slice', [flat, g.ints([0]), g.node('Shape', [like], { start: 1, end: 2 }), g.ints([1])]);
}

/** int32 [rows · pieces, length]: 0 for what fills up the last piece of steps [rows, steps, width]. */
export function stepsInPieces(g: GraphWriter, x: Value, length: number): Value {
  const shape = g.node('Concat', [g.node('Shape', [x], { start: 0, end: 2 }), g.ints([1])], { axis: 0 });
  const pieces = inPieces(g, g.node('Expand', [g.scalar(1), shape]), length, 1);
  return g.node('Cast', [g.node('Squeeze', [pieces, g.ints([2])])], { to: ELEMENTS.int32 });
}

export interface PieceDistances {
  heads: number;
  /** Width of a head. */
  each: number;
  /** Steps of a piece. */
  length: number;
  /** Distances of the table on either side of none; no fewer than `length`. */
  most: number;
}

/**
 * What vectors of distances within a piece add to scores (Shaw et al., 2018), as attention() wants it.
 * @param query float32 [pieces, length, heads · each]
 * @param table of [2 · most + 1, each]
 */
export function pieceDistanceBias(
  g: GraphWriter,
  query: Value,
  table: string,
  { heads, each, length, most }: PieceDistances,
): Value {
  const first = most - length + 1;
  const ends = [g.ints([first]), g.ints([first + 2 * length - 1]), g.ints([0])];
  const near = g.node('Slice', [g.weight(table, [2 * most + 1, each]), ...ends]);
  const scores = matMulTransposed(g, byHead(g, query, heads, each), near, each ** -0.5);
  const lines = g.once('lines of distances', () => allDistances(g, query).lines);
  return scoresOfPairs(g, scores, lines);
}
