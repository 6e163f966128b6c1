import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import { linesAndColumns } from '../patch-cells.js';

const CHANNELS = 3;

/** Patches of images of one size, line by line. */
export interface Patches {
  /** float32 [rows, patches, numbers of a patch], from 0 to 1. */
  pixels: Value;
  /** How many numbers a patch has. */
  numbers: number;
  /** int64 [2]: lines and columns. */
  grid: Value;
  /** float32 [patches, 2]: the line and the column of each. */
  positions: Value;
}

/** @param edge pixels of a patch's edge */
export function patchInputs(g: GraphWriter, edge: number): Patches {
  const numbers = CHANNELS * edge ** 2;
  const pixels = g.input('pixel_values', 'float32', ['rows', 'patches', numbers]);
  const shapes = g.input('spatial_shapes', 'int64', [1, 2]);
  const grid = g.node('Reshape', [shapes, g.ints([2])]);
  const positions = linesAndColumns(g, { frames: g.ints([1]), cells: grid, merge: 1 });
  return { pixels, numbers, grid, positions };
}

/** Vectors of the patches' columns (axis 0) and lines (axis 1), each from a table of its own: float32 [patches, width]. */
export function learnedPositions(
  g: GraphWriter,
  positions: Value,
  table: (axis: 0 | 1, ids: Value) => Value,
): Value {
  const whole = g.node('Cast', [positions], { to: ELEMENTS.int64 });
  const [line, column] = [0, 1].map((axis) => g.node('Gather', [whole, g.ints([axis], [])], { axis: 1 }));
  return g.node('Add', [table(0, column!), table(1, line!)]);
}
