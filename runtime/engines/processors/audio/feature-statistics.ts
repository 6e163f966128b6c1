/**
 * Replaces each number of [frames, features] by what `become` makes of it, its feature's mean over the frames, and its deviation, as
 * of a sample. What lies behind those frames stays.
 */
export function eachFeature(
  values: Float32Array,
  { frames, features }: { frames: number; features: number },
  become: (value: number, mean: number, deviation: number) => number,
  least = 0,
): void {
  for (let i = 0; i < features; i++) {
    let [sum, squares] = [0, 0];
    for (let frame = 0; frame < frames; frame++) sum += values[frame * features + i]!;
    const mean = sum / frames;
    for (let frame = 0; frame < frames; frame++) squares += (values[frame * features + i]! - mean) ** 2;
    const deviation = Math.sqrt(squares / (frames - 1) + least);
    for (let frame = 0; frame < frames; frame++) {
      const at = frame * features + i;
      values[at] = become(values[at]!, mean, deviation);
    }
  }
}
