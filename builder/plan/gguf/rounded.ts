/** Numbers that were float32 on their way, as they were before: 1e-6, not 9.99999997475e-7. */
export function rounded(value: number): number {
  const float = Math.fround(value);
  const digits = [6, 7, 8].map((count) => Number(float.toPrecision(count)));
  return digits.find((one) => Math.fround(one) === float) ?? float;
}
