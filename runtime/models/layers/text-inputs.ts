import { ELEMENTS } from '../writer/tensors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** What encoders of text read, each [rows, tokens]. */
export interface TextInputs {
  /** int64 */
  ids: Value;
  /** int64: 1 for text, 0 for padding. */
  mask: Value;
  /** The same as int32. */
  padding: Value;
  /** int64: which text of a pair; empty where a model has no such thing. */
  types: Value;
}

/** Declares the inputs that the runtime's encoders feed. */
export function textInputs(g: GraphWriter, { types = false } = {}): TextInputs {
  const axes = ['rows', 'tokens'];
  const ids = g.input('input_ids', 'int64', axes);
  const mask = g.input('attention_mask', 'int64', axes);
  return {
    ...{ ids, mask, padding: g.node('Cast', [mask], { to: ELEMENTS.int32 }) },
    types: types ? g.input('token_type_ids', 'int64', axes) : '',
  };
}

/** int64 [tokens]: 0, 1, 2, … for ids [rows, tokens], or states [rows, tokens, width]. */
export function positionsOf(g: GraphWriter, ids: Value): Value {
  return g.once(`places ${ids}`, () => {
    const count = g.node('Squeeze', [g.node('Shape', [ids], { start: 1, end: 2 })]);
    return g.node('Range', [g.ints([0], []), count, g.ints([1], [])]);
  });
}

/** The same for every row: int64 [rows, tokens]. */
export const textPositions = (g: GraphWriter, ids: Value): Value =>
  g.once('positions', () => g.node('Expand', [positionsOf(g, ids), g.node('Shape', [ids])]));

/** int64 [rows, tokens]: positions from `padId` + 1 on that skip padding, which stays at `padId`. */
export function positionsBehindPadding(g: GraphWriter, ids: Value, padId: number): Value {
  const pad = g.ints([padId], []);
  const isText = g.node('Cast', [g.node('Not', [g.node('Equal', [ids, pad])])], { to: ELEMENTS.int64 });
  const counted = g.node('CumSum', [isText, g.ints([1], [])]);
  return g.node('Add', [g.node('Mul', [counted, isText]), pad]);
}

/** int64 [tokens, tokens], for the same: how far the key (second axis) lies behind the query. */
export function distances(g: GraphWriter, ids: Value): Value {
  const positions = positionsOf(g, ids);
  return g.node('Sub', [
    g.node('Unsqueeze', [positions, g.ints([0])]),
    g.node('Unsqueeze', [positions, g.ints([1])]),
  ]);
}
