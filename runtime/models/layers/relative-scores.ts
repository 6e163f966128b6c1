import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { distances } from './text-inputs.js';

/** How far tokens of one text can lie apart. */
export interface Distances {
  /** int64 [2 · tokens - 1], from that of the first token behind the last on: how far a query lies behind a key. */
  all: Value;
  /** int64 [tokens, tokens, 1]: which of them each pair of query and key has. */
  lines: Value;
}

/** @param states of the text, [rows, tokens] or [rows, tokens, width] */
export function allDistances(g: GraphWriter, states: Value): Distances {
  const count = g.node('Squeeze', [g.node('Shape', [states], { start: 1, end: 2 })]);
  const last = g.node('Sub', [count, g.ints([1], [])]);
  const behind = g.node('Sub', [last, distances(g, states)]);
  return {
    all: g.node('Range', [g.node('Neg', [last]), count, g.ints([1], [])]),
    lines: g.node('Unsqueeze', [behind, g.ints([2])]),
  };
}

/**
 * Of scores of each query for each line, those of its pairs: float32 [rows, heads, tokens, lines] -> [rows, heads, tokens, tokens].
 * @param lines int64 [tokens, tokens, 1]
 */
export function scoresOfPairs(g: GraphWriter, scores: Value, lines: Value): Value {
  const byToken = g.node('Transpose', [scores], { perm: [2, 3, 0, 1] });
  const found = g.node('GatherND', [byToken, lines], { batch_dims: 1 });
  return g.node('Transpose', [found], { perm: [2, 3, 0, 1] });
}
