/** Numbers of frames as torch.arange(0, total, total / count).int() gives them, which counts in single precision. */
export function uniformly(total: number, count: number): number[] {
  const step = total / count;
  return Array.from({ length: Math.ceil(total / step) }, (_, i) => Math.trunc(Math.fround(i * step)));
}
