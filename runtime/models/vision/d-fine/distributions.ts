import { matMulTransposed } from '../../layers/linear.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';

/** What D-FINE's bins mean. */
export interface BinDistances {
  /** Of each bin: float32 [1, bins]. */
  distances: Value;
  /** How far a distance of one is in parts of a box, inverse: float32 [1]. */
  scale: Value;
  bins: number;
}

/**
 * Distances grow from the middle bin on to both ends, the more so the farther they are; how much is stored with the weights.
 * @param count of bins, less one
 */
export function binDistances(g: GraphWriter, count: number): BinDistances {
  const stored = (name: string) => g.node('Abs', [g.weight(`model.decoder.${name}`, [1])]);
  const scale = stored('reg_scale');
  const most = g.node('Mul', [stored('up'), scale]);
  const step = g.node('Pow', [g.node('Add', [most, g.scalar(1)]), g.scalar(2 / (count - 2))]);
  const side = count / 2 - 1;
  const positions = Array.from({ length: 2 * side + 1 }, (_, i) => i - side);
  const grown = g.node('Sub', [g.node('Pow', [step, g.floats(positions.map(Math.abs))]), g.scalar(1)]);
  const inner = g.node('Mul', [grown, g.floats(positions.map(Math.sign))]);
  const end = g.node('Mul', [most, g.scalar(2)]);
  const all = g.node('Concat', [g.node('Neg', [end]), inner, end], { axis: 0 });
  return { distances: g.node('Unsqueeze', [all, g.ints([0])]), scale, bins: count + 1 };
}

/**
 * Boxes whose four edges are moved as far as the bins say, in parts of their size.
 * @param boxes middle and size: float32 [rows, queries, 4] @param bins scores of each edge's: [rows, queries, 4 · bins]
 * @returns of the boxes' shape
 */
export function movedBoxes(
  g: GraphWriter,
  boxes: Value,
  bins: Value,
  { distances, scale, bins: count }: BinDistances,
): Value {
  const parted = g.node('Reshape', [bins, g.ints([0, 0, 4, count])]);
  const shares = g.node('Softmax', [parted], { axis: -1 });
  const moved = g.node('Reshape', [matMulTransposed(g, shares, distances), g.ints([0, 0, 4])]);
  const halves = (x: Value) =>
    g.nodes('Split', [x, g.ints([2, 2])], { outputs: 2, attributes: { axis: -1 } }) as [Value, Value];
  const [middle, size] = halves(boxes);
  const unit = g.node('Div', [size, scale]);
  const half = g.node('Mul', [scale, g.scalar(0.5)]);
  const [before, behind] = halves(moved).map((one) => g.node('Mul', [g.node('Add', [half, one]), unit])) as [
    ...[Value, Value],
  ];
  const [from, to] = [g.node('Sub', [middle, before]), g.node('Add', [middle, behind])];
  const between = g.node('Mul', [g.node('Add', [from, to]), g.scalar(0.5)]);
  return g.node('Concat', [between, g.node('Sub', [to, from])], { axis: -1 });
}
