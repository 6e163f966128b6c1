import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import type { Rotary } from './rope.js';

export interface GridPositions {
  /** int64 [2]: patches of a column and of a line. */
  grid: Value;
  /** int64 [1] */
  rows: Value;
  /** Tokens before the patches, whose heads are not turned. */
  learned: number;
  /** Of a head. */
  width: number;
}

interface Scale {
  /** One for each quarter of a head. */
  frequencies: readonly number[];
  /** What a line or column stands for. @param number float32, from 0 on @param count float32 scalar */
  placeOf: (number: Value, count: Value) => Value;
}

/** Half of a head's pairs turn by the line of a patch, half by its column. */
function gridTurns(
  g: GraphWriter,
  { grid, rows, learned, width }: GridPositions,
  { frequencies, placeOf }: Scale,
): Rotary {
  const quarter = frequencies.length;
  const table = g.floats(frequencies);
  const whole = g.node('Concat', [grid, g.ints([quarter])], { axis: 0 });
  const float = (x: Value) => g.node('Cast', [x], { to: ELEMENTS.float32 });
  const parts = [0, 1].map((axis) => {
    const count = g.node('Gather', [grid, g.ints([axis], [])]);
    const numbers = float(g.node('Range', [g.ints([0], []), count, g.ints([1], [])]));
    const place = placeOf(numbers, float(count));
    const shaped = g.node('Reshape', [place, g.ints(axis === 0 ? [-1, 1, 1] : [1, -1, 1])]);
    return g.node('Expand', [g.node('Mul', [shaped, table]), whole]);
  });
  const half = 2 * quarter;
  const ofPatches = g.node('Reshape', [g.node('Concat', parts, { axis: 2 }), g.ints([-1, half])]);
  const still = g.node('Expand', [g.scalar(0), g.ints([learned, half])]);
  const angles = learned === 0 ? ofPatches : g.node('Concat', [still, ofPatches], { axis: 0 });
  const count = g.node('Squeeze', [g.node('Shape', [angles], { start: 0, end: 1 })]);
  const lines = g.node('Range', [g.ints([0], []), count, g.ints([1], [])]);
  const shape = g.node('Concat', [rows, g.ints([1])], { axis: 0 });
  return {
    ...{ cosine: g.node('Cos', [angles]), sine: g.node('Sin', [angles]), width },
    lines: g.node('Expand', [lines, shape]),
  };
}

/** base^(-4i / width), one for each quarter of a head. @throws GraphError where a head has no quarters */
function quarters(width: number, base: number, factor = 1): number[] {
  if (width % 4 !== 0)
    throw new GraphError(`config.json: heads of width ${width} can't be turned on two axes`);
  return Array.from({ length: width / 4 }, (_, i) => factor * base ** ((-4 * i) / width));
}

/** DINO v3's: positions go from -1 to 1, whatever the grid. */
export function centredTurns(g: GraphWriter, positions: GridPositions, base: number): Rotary {
  return gridTurns(g, positions, {
    frequencies: quarters(positions.width, base, 2 * Math.PI),
    placeOf(numbers, count) {
      const share = g.node('Div', [g.node('Add', [numbers, g.scalar(0.5)]), count]);
      return g.node('Sub', [g.node('Mul', [share, g.scalar(2)]), g.scalar(1)]);
    },
  });
}

/** EVA-02's: positions are those of a grid of so many lines and columns, whatever the grid. */
export function referredTurns(
  g: GraphWriter,
  positions: GridPositions,
  { base, reference }: { base: number; reference: number },
): Rotary {
  return gridTurns(g, positions, {
    frequencies: quarters(positions.width, base),
    placeOf: (numbers, count) => g.node('Mul', [g.node('Div', [numbers, count]), g.scalar(reference)]),
  });
}
