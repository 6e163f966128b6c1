import {
  fromWindows,
  intoWindows,
  paddedGrid,
  rolled,
  shiftMask,
  type Windows,
} from '../../layers/window-partition.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';

/** What both Swins do with windows. Grids are int64 [2]: tokens of a column and of a line. */

export interface ShiftedWindows extends Windows {
  grid: Value;
  /** int64 [1]; undefined where windows stay in place. */
  shift: Value | undefined;
}

/**
 * What `attend` makes of windows [rows · windows, tokens, width] put together again: float32 [rows, tokens, width]. Its mask keeps
 * apart what only a shift has put into one window.
 */
export function throughWindows(
  g: GraphWriter,
  x: Value,
  { grid, shift, edge, width }: ShiftedWindows,
  attend: (windows: Value, mask: Value | undefined) => Value,
): Value {
  const padded = paddedGrid(g, asGrid(g, x, grid, width), grid, edge);
  const moved = shift ? rolled(g, padded.x, [shift, shift]) : padded.x;
  const windows = intoWindows(g, moved, padded.grid, { edge, width });
  const mask = shift && g.once(`shift ${padded.grid}`, () => shiftMask(g, padded.grid, { shift, edge }));
  const found = fromWindows(g, attend(windows, mask), padded.grid, { edge, width });
  const back = shift ? rolledBack(g, found, padded.grid, shift) : found;
  const own = g.node('Slice', [back, g.ints([0, 0]), grid, g.ints([1, 2])]);
  return g.node('Reshape', [own, g.ints([0, -1, width])]);
}

/** float32 [rows, lines, columns, width] */
const asGrid = (g: GraphWriter, x: Value, grid: Value, width: number): Value =>
  g.node('Reshape', [x, g.node('Concat', [g.ints([0]), grid, g.ints([width])], { axis: 0 })]);

function rolledBack(g: GraphWriter, x: Value, grid: Value, shift: Value): Value {
  const from = g.node('Sub', [grid, shift]);
  const parts = g.nodes('Split', [from, g.ints([1, 1])], { outputs: 2, attributes: { axis: 0 } });
  return rolled(g, x, parts as [Value, Value]);
}

/** float32 [windows, heads, tokens, tokens] for each row: [rows · windows, …], as x [rows · windows, …] has them. */
export function ofAllRows(g: GraphWriter, bias: Value, x: Value): Value {
  const all = g.node('Shape', [x], { start: 0, end: 1 });
  const rows = g.node('Div', [all, g.node('Shape', [bias], { start: 0, end: 1 })]);
  return g.node('Tile', [bias, g.node('Concat', [rows, g.ints([1, 1, 1])], { axis: 0 })]);
}

/** Four neighbours side by side: float32 [rows, a quarter of the tokens, 4 · width]. */
export function fourTogether(g: GraphWriter, x: Value, grid: Value, width: number): Value {
  const even = paddedGrid(g, asGrid(g, x, grid, width), grid, 2).x;
  const quarters = [
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
  ].map((start) =>
    g.node('Slice', [even, g.ints(start), g.ints([2 ** 53, 2 ** 53]), g.ints([1, 2]), g.ints([2, 2])]),
  );
  return g.node('Reshape', [g.node('Concat', quarters, { axis: 3 }), g.ints([0, -1, 4 * width])]);
}

/** The grid of which four tokens have become one. */
export const halved = (g: GraphWriter, grid: Value): Value =>
  g.node('Div', [g.node('Add', [grid, g.ints([1], [])]), g.ints([2], [])]);
