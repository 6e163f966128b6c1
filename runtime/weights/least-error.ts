/** Steps of four bits. */
const TOP = 15;

/** Parts of the whole range that are tried as the reach of 15 steps: what lies beyond is cut off. */
const REACHES = [1.06, 1.03, 1, 0.97, 0.94, 0.91, 0.88, 0.85, 0.82];

/** Numbers of a block are (code - zero) · scale. */
export interface BlockFit {
  scale: number;
  /** From 0 to 15. */
  zero: number;
  /** What numbers are multiplied with before they are rounded to codes. */
  inverse: number;
}

/**
 * Finds the scale and the zero point with which numbers lose least by rounding to four bits (least squares). Several reaches are tried;
 * to the codes that come of each belongs a best scale, with which the numbers are rounded again. The same for the same numbers
 * everywhere: sums are in float64 and in order.
 * @param fit is overwritten, so that millions of blocks leave nothing behind
 */
export function fitBlock(values: Float32Array, start: number, end: number, fit: BlockFit): void {
  let [least, most, squares] = [0, 0, 0];
  for (let i = start; i < end; i++) {
    const value = values[i]!;
    if (value < least) least = value;
    else if (value > most) most = value;
    squares += value * value;
  }
  fit.scale = 0;
  fit.zero = 0;
  fit.inverse = 0;
  if (squares === 0) return;
  const search = { values, start, end, fit, gain: 0 };
  const whole = (most - least) / TOP;
  for (const reach of REACHES) tryFit(search, 1 / (whole * reach), middleZero(least, most, whole * reach));
  const { zero } = fit;
  for (const other of [zero - 1, zero + 1])
    if (other >= 0 && other <= TOP) tryFit(search, fit.inverse, other);
  // Twice: codes that change call for another scale.
  tryFit(search, 1 / fit.scale, fit.zero);
  tryFit(search, 1 / fit.scale, fit.zero);
}

/** The zero point that puts the middle of the range into the middle of the codes. */
function middleZero(least: number, most: number, scale: number): number {
  const zero = Math.floor(TOP / 2 - (least + most) / (2 * scale) + 0.5);
  return Math.min(TOP, Math.max(0, zero));
}

/** The nearest code; cutting off rounds, since what is below zero becomes zero. */
export function codeOf(value: number, inverse: number, zero: number): number {
  const code = (value * inverse + zero + 0.5) | 0;
  return code > TOP ? TOP : code > 0 ? code : 0;
}

interface Search {
  values: Float32Array;
  start: number;
  end: number;
  fit: BlockFit;
  /** What the best fit so far takes off the sum of squares. */
  gain: number;
}

function tryFit(search: Search, inverse: number, zero: number): void {
  const { values, start, end, fit } = search;
  let [products, codes] = [0, 0];
  for (let i = start; i < end; i++) {
    const value = values[i]!;
    const step = codeOf(value, inverse, zero) - zero;
    products += value * step;
    codes += step * step;
  }
  if (codes === 0 || products <= 0) return;
  const gain = (products * products) / codes;
  if (gain <= search.gain) return;
  search.gain = gain;
  fit.scale = Math.fround(products / codes);
  fit.zero = zero;
  fit.inverse = inverse;
}
