import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';

/**
 * torch's AdaptiveAvgPool2d: means of as many parts of each axis, which overlap where they don't divide it: float32
 * [rows, width, lines, columns] -> [rows, width, parts, parts].
 */
export function adaptivePool(g: GraphWriter, x: Value, parts: number): Value {
  const [down, across] = [2, 3].map((axis) =>
    partShares(g, g.node('Shape', [x], { start: axis, end: axis + 1 }), parts),
  );
  const narrow = g.node('MatMul', [x, g.node('Transpose', [across!], { perm: [1, 0] })]);
  return g.node('MatMul', [down!, narrow]);
}

/** What each position adds to each part's mean: float32 [parts, positions]. @param size int64 [1] */
function partShares(g: GraphWriter, size: Value, parts: number): Value {
  const count = g.ints([parts]);
  const numbers = g.ints(
    Array.from({ length: parts }, (_, i) => i),
    [parts, 1],
  );
  const from = g.node('Div', [g.node('Mul', [numbers, size]), count]);
  const next = g.node('Mul', [g.node('Add', [numbers, g.ints([1])]), size]);
  const to = g.node('Div', [g.node('Add', [next, g.ints([parts - 1])]), count]);
  const positions = g.node('Range', [g.ints([0], []), g.node('Squeeze', [size]), g.ints([1], [])]);
  const within = g.node('And', [
    g.node('GreaterOrEqual', [positions, from]),
    g.node('Less', [positions, to]),
  ]);
  const float = (value: Value) => g.node('Cast', [value], { to: ELEMENTS.float32 });
  return g.node('Div', [float(within), float(g.node('Sub', [to, from]))]);
}
