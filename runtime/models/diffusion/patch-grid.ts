import { gridOf } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** int64 [2]: patches of a column and of a line of float32 [rows, channels, height, width]. */
export function patchGrid(g: GraphWriter, sample: Value, edge: number): Value {
  return g.once(`grid of ${sample}`, () => g.node('Div', [gridOf(g, sample), g.ints([edge])]));
}

/** Patches of an image: float32 [rows, channels, height, width] -> [rows, tokens, channels · edge · edge]. */
export function toPatches(
  g: GraphWriter,
  sample: Value,
  grid: Value,
  { channels, edge }: { channels: number; edge: number },
): Value {
  const [lines, columns] = g.nodes('Split', [grid, g.ints([1, 1])], { outputs: 2 }) as [Value, Value];
  const parts = [g.ints([0, channels]), lines, g.ints([edge]), columns, g.ints([edge])];
  const parted = g.node('Reshape', [sample, g.node('Concat', parts, { axis: 0 })]);
  const placed = g.node('Transpose', [parted], { perm: [0, 2, 4, 1, 3, 5] });
  return g.node('Reshape', [placed, g.ints([0, -1, channels * edge ** 2])]);
}

/** Which axes of [rows, lines, columns, …] hold the numbers of a patch; where they stand differs between families. */
export interface PatchOrder {
  channels: number;
  edge: number;
  /** Axes of a patch as they are stored. */
  order: 'channels first' | 'channels last';
}

/** An image of patches: float32 [rows, tokens, edge · edge · channels] -> [rows, channels, height, width]. */
export function fromPatches(
  g: GraphWriter,
  tokens: Value,
  grid: Value,
  { channels, edge, order }: PatchOrder,
): Value {
  const first = order === 'channels first';
  const inner = first ? [channels, edge, edge] : [edge, edge, channels];
  const shape = g.node('Concat', [g.ints([0]), grid, g.ints(inner)], { axis: 0 });
  const parted = g.node('Reshape', [tokens, shape]);
  const placed = g.node('Transpose', [parted], { perm: first ? [0, 3, 1, 4, 2, 5] : [0, 5, 1, 3, 2, 4] });
  const size = g.node('Mul', [grid, g.ints([edge])]);
  return g.node('Reshape', [placed, g.node('Concat', [g.ints([0, channels]), size], { axis: 0 })]);
}
