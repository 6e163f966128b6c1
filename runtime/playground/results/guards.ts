export type Row = Record<string, unknown>;

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A list of objects, or undefined. An empty list counts as one. */
export const rowsOf = (value: unknown): Row[] | undefined =>
  Array.isArray(value) && value.every(isRow) ? value : undefined;

export const isNumber = (value: unknown): value is number => typeof value === 'number';

export const percent = (score: number): string => `${(score * 100).toFixed(1)} %`;

/** Colour of the n-th of several things, told apart by eye. */
export const colorOf = (n: number): string => `hsl(${(n * 137.5 + 210) % 360} 75% 50%)`;
