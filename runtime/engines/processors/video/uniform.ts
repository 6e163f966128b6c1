/** Numbers of frames as torch.arange(from, total, total / count).int() gives them, which counts in single precision. */
export function uniformly(total: number, count: number, from = 0): number[] {
  const step = total / count;
  return Array.from({ length: Math.ceil((total - from) / step) }, (_, i) =>
    Math.trunc(Math.fround(from + i * step)),
  );
}
