/** Cosine of the angle between two vectors of one length; 0 where one of them is zero. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  let [dot, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    dot += a[i]! * b[i]!;
    aa += a[i]! ** 2;
    bb += b[i]! ** 2;
  }
  const lengths = Math.sqrt(aa) * Math.sqrt(bb);
  return lengths === 0 ? 0 : dot / lengths;
}
