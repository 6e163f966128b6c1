/** Sorts numbers that are none behind all others, as torch does. */
const isAfter = (a: number, b: number): boolean => a > b || (Number.isNaN(a) && !Number.isNaN(b));

/**
 * The median around each number, mirrored at the ends (transformers' _median_filter); the numbers themselves where there are
 * too few to mirror.
 * @param width odd
 */
export function medianFilter(values: Float32Array, width: number): Float32Array {
  const side = (width - 1) / 2;
  const last = values.length - 1;
  if (last < side) return values;
  const near = new Float32Array(width);
  return values.map((_, middle) => {
    for (let i = 0; i < width; i++) {
      const place = Math.abs(middle - side + i);
      const value = values[place > last ? 2 * last - place : place]!;
      let free = i;
      for (; free > 0 && isAfter(near[free - 1]!, value); free--) near[free] = near[free - 1]!;
      near[free] = value;
    }
    return near[side]!;
  });
}
