export type Json = Readonly<Record<string, unknown>>;

/** A number of pixels or frames, or the first of a pair. */
export function edge(value: unknown): number | undefined {
  const found = positive(Array.isArray(value) ? value[0] : value);
  return found && Math.max(1, found);
}

/** At most as many stages as any network has. */
export const numbers = (value: unknown): number[] =>
  Array.isArray(value) ? value.slice(0, 16).map((each) => positive(each) ?? 1) : [];

/** Larger than any field of a network; what is beyond is a mistake. */
const MOST_FIELD = 2 ** 20;

/** @returns undefined for what is no positive number of usual size */
export function positive(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 && value <= MOST_FIELD ? value : undefined;
}
