export type Json = Readonly<Record<string, unknown>>;

/** A whole number that is not negative; undefined for all else. */
export function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Whole numbers of a configuration whose names match, sorted. */
export function numbersNamed(config: Json, name: RegExp): number[] {
  const found = Object.entries(config).flatMap(([key, value]) =>
    name.test(key) ? (number(value) ?? []) : [],
  );
  return [...new Set(found)].sort((a, b) => a - b);
}
