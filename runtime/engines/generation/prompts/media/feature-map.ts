import type { TensorLike } from '../../../sessions/tensors.js';

/** Features over lines and columns, line by line. */
export interface FeatureMap {
  data: Float32Array;
  lines: number;
  columns: number;
  /** Of a feature. */
  width: number;
}

/** A map of the features at these positions of [count, width]. */
export function mapOf(
  { data, dims }: TensorLike,
  { lines, columns }: Pick<FeatureMap, 'lines' | 'columns'>,
  placeOf: (line: number, column: number) => number,
): FeatureMap {
  const width = dims.at(-1)!;
  const found = new Float32Array(lines * columns * width);
  for (let line = 0; line < lines; line++)
    for (let column = 0; column < columns; column++) {
      const from = placeOf(line, column) * width;
      found.set((data as Float32Array).subarray(from, from + width), (line * columns + column) * width);
    }
  return { data: found, lines, columns, width };
}

/** torch's bilinear interpolation, whose corners are pixels and not points. */
export function resizedMap(map: FeatureMap, lines: number, columns: number): FeatureMap {
  const { data, width } = map;
  const down = taps(map.lines, lines);
  const across = taps(map.columns, columns);
  const found = new Float32Array(lines * columns * width);
  for (const [line, y] of down.entries())
    for (const [column, x] of across.entries()) {
      const at = (l: number, c: number) => (l * map.columns + c) * width;
      const corners = [at(y.first, x.first), at(y.first, x.next), at(y.next, x.first), at(y.next, x.next)];
      const [a, b, c, d] = corners as [number, number, number, number];
      const to = (line * columns + column) * width;
      for (let i = 0; i < width; i++) {
        const upper = (1 - x.share) * data[a + i]! + x.share * data[b + i]!;
        const lower = (1 - x.share) * data[c + i]! + x.share * data[d + i]!;
        found[to + i] = (1 - y.share) * upper + y.share * lower;
      }
    }
  return { data: found, lines, columns, width };
}

interface Tap {
  first: number;
  next: number;
  /** Of the next one. */
  share: number;
}

function taps(from: number, to: number): Tap[] {
  const scale = Math.fround(from / to);
  return Array.from({ length: to }, (_, i) => {
    const at = Math.max(0, Math.fround(scale * (i + 0.5) - 0.5));
    const first = Math.min(Math.floor(at), from - 1);
    return { first, next: Math.min(first + 1, from - 1), share: Math.fround(at - first) };
  });
}

/** Features of parts one after the other: [count, width]. */
export function together(parts: readonly Float32Array[], width: number): TensorLike {
  const data = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    data.set(part, at);
    at += part.length;
  }
  return { type: 'float32', data, dims: [data.length / width, width] };
}

/** A map line by line, with a feature behind each. */
export function withLineEnds({ data, lines, columns, width }: FeatureMap, end: Float32Array): Float32Array[] {
  const line = columns * width;
  return Array.from({ length: lines }, (_, i) => [data.subarray(i * line, (i + 1) * line), end]).flat();
}
