/** A tensor and its weight. */
export type Term = readonly [weight: number, values: Float32Array];

/** The weighted sum of tensors, computed in double precision. */
export function combine(...terms: readonly Term[]): Float32Array {
  const [[first, x], [second, y] = [0, undefined], ...rest] = terms as [Term, Term?, ...Term[]];
  const sum = new Float32Array(x.length);
  if (!y) {
    for (let i = 0; i < sum.length; i++) sum[i] = first * x[i]!;
  } else if (rest.length === 0) {
    for (let i = 0; i < sum.length; i++) sum[i] = first * x[i]! + second * y[i]!;
  } else {
    for (let i = 0; i < sum.length; i++) {
      let value = first * x[i]! + second * y[i]!;
      for (const [weight, values] of rest) value += weight * values[i]!;
      sum[i] = value;
    }
  }
  return sum;
}
