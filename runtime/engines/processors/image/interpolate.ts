import type { Edges } from './sizes.js';

/** One plane of floats, row by row. */
export interface Plane extends Edges {
  values: Float32Array;
}

/** For each index along an axis: the two source indices it lies between, and the weight of the second. */
interface Axis {
  low: Int32Array;
  high: Int32Array;
  weight: Float32Array;
}

/** torch.nn.functional.interpolate's source positions with align_corners=False. */
function bilinearAxis(from: number, to: number): Axis {
  const [low, high, weight] = [new Int32Array(to), new Int32Array(to), new Float32Array(to)];
  const scale = Math.fround(from / to);
  for (let i = 0; i < to; i++) {
    const source = Math.max(0, Math.fround(Math.fround(scale * Math.fround(i + 0.5)) - 0.5));
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

/** Bilinear, as torch.nn.functional.interpolate(mode="bilinear", align_corners=False) computes it. */
export function bilinearRows(plane: Plane, { height, width }: Edges): RowSampler {
  const [down, across] = [bilinearAxis(plane.height, height), bilinearAxis(plane.width, width)];
  const { values } = plane;
  return {
    ...{ height, width },
    row(y, target) {
      const [top, bottom] = [down.low[y]! * plane.width, down.high[y]! * plane.width];
      const below = down.weight[y]!;
      const above = 1 - below;
      for (let x = 0; x < width; x++) {
        const [left, right, toRight] = [across.low[x]!, across.high[x]!, across.weight[x]!];
        const toLeft = 1 - toRight;
        target[x] =
          above * (toLeft * values[top + left]! + toRight * values[top + right]!) +
          below * (toLeft * values[bottom + left]! + toRight * values[bottom + right]!);
      }
    },
  };
}

/** The whole plane. */
export function bilinear(plane: Plane, to: Edges): Plane {
  const sampler = bilinearRows(plane, to);
  const values = new Float32Array(to.height * to.width);
  for (let y = 0; y < to.height; y++) sampler.row(y, values.subarray(y * to.width, (y + 1) * to.width));
  return { values, height: to.height, width: to.width };
}

/** The top left part. */
export function cropPlane({ values, width }: Plane, to: Edges): Plane {
  const cropped = new Float32Array(to.height * to.width);
  for (let y = 0; y < to.height; y++)
    cropped.set(values.subarray(y * width, y * width + to.width), y * to.width);
  return { values: cropped, height: to.height, width: to.width };
}
