/** As np.linspace(from, to, count). */
export function evenlySpaced(from: number, to: number, count: number): number[] {
  const step = count === 1 ? 0 : (to - from) / (count - 1);
  // NumPy's last number is exact, the others are multiples of the step.
  return Array.from({ length: count }, (_, i) => (i > 0 && i === count - 1 ? to : i * step + from));
}

/** The same, cut to whole numbers. */
export const evenly = (from: number, to: number, count: number): number[] =>
  evenlySpaced(from, to, count).map((place) => Math.floor(place));
