/** A text counted in code points, as Python counts, where JavaScript counts UTF-16 units. */
export interface CodePoints {
  /** Code points before a unit; a unit inside a pair counts as its character. */
  indexOf(unit: number): number;
  /** The code points [start, end). */
  slice(start: number, end: number): string;
}

const PAIR = /[\ud800-\udbff][\udc00-\udfff]/;

export function codePointsOf(text: string): CodePoints {
  if (!PAIR.test(text)) return { indexOf: (unit) => unit, slice: (start, end) => text.slice(start, end) };
  const points = new Int32Array(text.length + 1);
  const units: number[] = [];
  let unit = 0;
  for (const char of text) {
    points.fill(units.length, unit, unit + char.length);
    units.push(unit);
    unit += char.length;
  }
  points[unit] = units.length;
  units.push(unit);
  const clamp = (point: number) => units[Math.min(Math.max(point, 0), units.length - 1)]!;
  return {
    indexOf: (index) => points[index]!,
    slice: (start, end) => text.slice(clamp(start), clamp(end)),
  };
}
