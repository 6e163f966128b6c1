import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** Windows of a grid of tokens, as Swin cuts them. Grids are int64 [2]: tokens of a column and of a line. */

export interface Windows {
  /** Tokens along an edge. */
  edge: number;
  /** Of a token. */
  width: number;
}

/** What each edge lacks to the next multiple: int64 [2]. */
function lacking(g: GraphWriter, grid: Value, edge: number): Value {
  const rest = g.node('Mod', [grid, g.ints([edge], [])]);
  return g.node('Mod', [g.node('Sub', [g.ints([edge], []), rest]), g.ints([edge], [])]);
}

/** Zeros below and to the right of float32 [rows, lines, columns, width], up to the next multiple. */
export function paddedGrid(g: GraphWriter, x: Value, grid: Value, edge: number): { x: Value; grid: Value } {
  const added = lacking(g, grid, edge);
  const pads = g.node('Concat', [g.ints([0, 0, 0, 0, 0]), added, g.ints([0])], { axis: 0 });
  return { x: g.node('Pad', [x, pads]), grid: g.node('Add', [grid, added]) };
}

/** The same for images, float32 [rows, channels, height, width]. */
export function paddedImage(g: GraphWriter, x: Value, edges: readonly [number, number]): Value {
  const size = g.node('Shape', [x], { start: 2, end: 4 });
  const rest = g.node('Mod', [size, g.ints(edges)]);
  const added = g.node('Mod', [g.node('Sub', [g.ints(edges), rest]), g.ints(edges)]);
  const pads = g.node('Concat', [g.ints([0, 0, 0, 0, 0, 0]), added], { axis: 0 });
  return g.node('Pad', [x, pads]);
}

/** float32 [rows, lines, columns, width] -> [rows · windows, tokens of a window, width] */
export function intoWindows(g: GraphWriter, x: Value, grid: Value, { edge, width }: Windows): Value {
  const [down, across] = counts(g, grid, edge);
  const parted = g.node('Reshape', [
    x,
    g.node('Concat', [g.ints([-1]), down, g.ints([edge]), across, g.ints([edge, width])], { axis: 0 }),
  ]);
  const together = g.node('Transpose', [parted], { perm: [0, 1, 3, 2, 4, 5] });
  return g.node('Reshape', [together, g.ints([-1, edge * edge, width])]);
}

/** The way back. */
export function fromWindows(g: GraphWriter, x: Value, grid: Value, { edge, width }: Windows): Value {
  const [down, across] = counts(g, grid, edge);
  const parted = g.node('Reshape', [
    x,
    g.node('Concat', [g.ints([-1]), down, across, g.ints([edge, edge, width])], { axis: 0 }),
  ]);
  const together = g.node('Transpose', [parted], { perm: [0, 1, 3, 2, 4, 5] });
  return g.node('Reshape', [together, g.node('Concat', [g.ints([-1]), grid, g.ints([width])], { axis: 0 })]);
}

/** Windows of a column and of a line, int64 [1] each. */
function counts(g: GraphWriter, grid: Value, edge: number): [Value, Value] {
  const all = g.node('Div', [grid, g.ints([edge], [])]);
  return g.nodes('Split', [all, g.ints([1, 1])], { outputs: 2, attributes: { axis: 0 } }) as [Value, Value];
}

/** Moves lines and columns of [rows, lines, columns, width] from the ends `from` [1] on to the front: torch's roll. */
export function rolled(g: GraphWriter, x: Value, from: readonly [Value, Value]): Value {
  return from.reduce((one, at, i) => {
    const axis = g.ints([i + 1]);
    const behind = g.node('Slice', [one, at, g.ints([2 ** 53]), axis]);
    const before = g.node('Slice', [one, g.ints([0]), at, axis]);
    return g.node('Concat', [behind, before], { axis: i + 1 });
  }, x);
}

/**
 * What keeps tokens apart that only a shift has put into one window: float32 [windows, 1, tokens, tokens], 0 or -100.
 * @param shift int64 [1]
 */
export function shiftMask(
  g: GraphWriter,
  grid: Value,
  { shift, edge }: { shift: Value; edge: number },
): Value {
  const sizes = g.nodes('Split', [grid, g.ints([1, 1])], { outputs: 2, attributes: { axis: 0 } });
  const [lines, columns] = sizes.map((size) => {
    const positions = g.node('Range', [...[g.ints([0], []), g.node('Squeeze', [size]), g.ints([1], [])]]);
    const from = (start: Value) =>
      g.node('Cast', [g.node('GreaterOrEqual', [positions, g.node('Sub', [size, start])])], { to: 7 });
    return g.node('Add', [from(g.ints([edge])), from(shift)]);
  }) as [Value, Value];
  const down = g.node('Mul', [g.node('Unsqueeze', [lines, g.ints([1])]), g.ints([3], [])]);
  const areas = g.node('Unsqueeze', [
    ...[g.node('Add', [down, g.node('Unsqueeze', [columns, g.ints([0])])]), g.ints([0, 3])],
  ]);
  const windows = intoWindows(g, areas, grid, { edge, width: 1 });
  const turned = g.node('Transpose', [windows], { perm: [0, 2, 1] });
  const same = g.node('Equal', [windows, turned]);
  return g.node('Unsqueeze', [g.node('Where', [same, g.scalar(0), g.scalar(-100)]), g.ints([1])]);
}
