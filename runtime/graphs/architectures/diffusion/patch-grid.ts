import { gridOf } from '../../blocks/pictures.js';
import type { GraphWriter, Value } from '../../graph-writer.js';

/** int64 [2]: patches of a column and of a line of float32 [rows, channels, height, width]. */
export function patchGrid(g: GraphWriter, sample: Value, edge: number): Value {
  return g.once(`grid of ${sample}`, () => g.node('Div', [gridOf(g, sample), g.ints([edge])]));
}

/** Which axes of [rows, lines, columns, …] hold the numbers of a patch; where they stand differs between families. */
export interface PatchOrder {
  channels: number;
  edge: number;
  /** Axes of a patch as they are stored. */
  order: 'channels first' | 'channels last';
}

/** A picture of patches: float32 [rows, tokens, edge · edge · channels] -> [rows, channels, height, width]. */
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
