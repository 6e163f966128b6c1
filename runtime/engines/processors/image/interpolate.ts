import type { Edges } from './sizes.js';

/** One plane of floats, row by row. */
export interface Plane extends Edges {
  values: Float32Array;
}

/** A plane of numbers of any type. */
export interface Samples extends Edges {
  values: ArrayLike<number>;
}

/** For each index along an axis: the two source indices it lies between, and the weight of the second. */
interface Axis {
  low: Int32Array;
  high: Int32Array;
  weight: Float32Array;
}

/** Where torch.nn.functional.interpolate looks for an index: middles of pixels, or with `align_corners` first and last ones, lie on each other. */
function sourcePosition(from: number, to: number, aligned: boolean): (index: number) => number {
  if (aligned) {
    const scale = to > 1 ? Math.fround((from - 1) / (to - 1)) : 0;
    return (i) => Math.fround(scale * i);
  }
  const scale = Math.fround(from / to);
  return (i) => Math.fround(Math.fround(scale * Math.fround(i + 0.5)) - 0.5);
}

function bilinearAxis(from: number, to: number, aligned: boolean): Axis {
  const [low, high, weight] = [new Int32Array(to), new Int32Array(to), new Float32Array(to)];
  const position = sourcePosition(from, to, aligned);
  for (let i = 0; i < to; i++) {
    const source = Math.max(0, position(i));
    low[i] = Math.min(from - 1, Math.floor(source));
    high[i] = Math.min(from - 1, low[i]! + 1);
    weight[i] = Math.fround(source - low[i]!);
  }
  return { low, high, weight };
}

/** Gives the rows of an enlarged or reduced plane one by one, so that a large one need not be held. */
export interface RowSampler extends Edges {
  /** Writes a row into `target`, of `width` numbers. */
  row(y: number, target: Float32Array): void;
}

/** Bilinear, as torch.nn.functional.interpolate(mode="bilinear", align_corners=aligned) computes it. */
export function bilinearRows(plane: Samples, { height, width }: Edges, aligned = false): RowSampler {
  const down = bilinearAxis(plane.height, height, aligned);
  const across = bilinearAxis(plane.width, width, aligned);
  const line = (y: number): Line => ({ values: plane.values, at: y * plane.width });
  return {
    ...{ height, width },
    row: (y, target) => between(target, [line(down.low[y]!), line(down.high[y]!)], down.weight[y]!, across),
  };
}

/** A row of a plane, from an index on. */
interface Line {
  values: ArrayLike<number>;
  at: number;
}

/** @param below weight of the second line */
function between(target: Float32Array, [top, bottom]: readonly [Line, Line], below: number, across: Axis) {
  const above = 1 - below;
  const [over, under] = [top.values, bottom.values];
  for (let x = 0; x < across.weight.length; x++) {
    const [left, right, toRight] = [across.low[x]!, across.high[x]!, across.weight[x]!];
    const toLeft = 1 - toRight;
    target[x] =
      above * (toLeft * over[top.at + left]! + toRight * over[top.at + right]!) +
      below * (toLeft * under[bottom.at + left]! + toRight * under[bottom.at + right]!);
  }
}

/**
 * The top left part of a plane that is itself enlarged row by row, enlarged or reduced once more: two rows of it are held.
 * Cheapest where rows are asked for in their order.
 */
export function bilinearOfRows(source: RowSampler, part: Edges, { height, width }: Edges): RowSampler {
  const down = bilinearAxis(part.height, height, false);
  const across = bilinearAxis(part.width, width, false);
  const held = [0, 1].map(() => ({ y: -1, values: new Float32Array(source.width) }));
  const line = (y: number): Line => {
    // Neighbours have different slots.
    const slot = held[y % 2]!;
    if (slot.y !== y) source.row(y, slot.values);
    slot.y = y;
    return { values: slot.values, at: 0 };
  };
  return {
    ...{ height, width },
    row: (y, target) => between(target, [line(down.low[y]!), line(down.high[y]!)], down.weight[y]!, across),
  };
}

/** The whole plane. */
export function bilinear(plane: Plane, to: Edges): Plane {
  const sampler = bilinearRows(plane, to);
  const values = new Float32Array(to.height * to.width);
  for (let y = 0; y < to.height; y++) sampler.row(y, values.subarray(y * to.width, (y + 1) * to.width));
  return { values, height: to.height, width: to.width };
}

/** For each index: the four source indices around it and their weights, by Keys' cubic with a = -0.75 as in torch. */
interface CubicAxis {
  indices: Int32Array;
  weights: Float32Array;
}

const A = -0.75;
const near = (x: number): number => ((A + 2) * x - (A + 3)) * x * x + 1;
const far = (x: number): number => ((A * x - 5 * A) * x + 8 * A) * x - 4 * A;

/** Of the four samples around a place that lies `t` behind the second of them. */
export const cubicWeights = (t: number): number[] => [far(t + 1), near(t), near(1 - t), far(2 - t)];

function cubicAxis(from: number, to: number, aligned: boolean): CubicAxis {
  const [indices, weights] = [new Int32Array(4 * to), new Float32Array(4 * to)];
  const position = sourcePosition(from, to, aligned);
  for (let i = 0; i < to; i++) {
    const source = position(i);
    const low = Math.floor(source);
    const t = Math.fround(source - low);
    weights.set(cubicWeights(t), 4 * i);
    for (let tap = 0; tap < 4; tap++) indices[4 * i + tap] = Math.min(from - 1, Math.max(0, low - 1 + tap));
  }
  return { indices, weights };
}

/** Bicubic, as torch.nn.functional.interpolate(mode="bicubic", align_corners=aligned) computes it. */
export function bicubicRows(plane: Samples, { height, width }: Edges, aligned = false): RowSampler {
  const down = cubicAxis(plane.height, height, aligned);
  const across = cubicAxis(plane.width, width, aligned);
  /** As high as the plane, as wide as the target. */
  const wide = new Float32Array(plane.height * width);
  for (let y = 0; y < plane.height; y++) {
    for (let x = 0; x < width; x++) {
      let sum = 0;
      for (let tap = 0; tap < 4; tap++)
        sum += across.weights[4 * x + tap]! * plane.values[y * plane.width + across.indices[4 * x + tap]!]!;
      wide[y * width + x] = sum;
    }
  }
  return {
    ...{ height, width },
    row(y, target) {
      target.fill(0, 0, width);
      for (let tap = 0; tap < 4; tap++) {
        const [from, weight] = [down.indices[4 * y + tap]! * width, down.weights[4 * y + tap]!];
        for (let x = 0; x < width; x++) target[x]! += weight * wide[from + x]!;
      }
    },
  };
}

/** The part that begins at `top` and `left`. */
export function croppedRows(
  rows: RowSampler,
  { top, left }: { top: number; left: number },
  to: Edges,
): RowSampler {
  const whole = new Float32Array(rows.width);
  return {
    ...to,
    row(y, target) {
      rows.row(y + top, whole);
      target.set(whole.subarray(left, left + to.width));
    },
  };
}
