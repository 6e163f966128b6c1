/** Comparison of an answer with the recorded one. */
export interface Comparison {
  /** Byte for byte. */
  exact: boolean;
  /** Where it differs by more than the tolerance, if it does. */
  difference?: string;
}

/** Last digits differ between processors. */
const TOLERANCE = 1e-3;

/**
 * Compares JSON values: shape and strings must be equal, numbers within a thousandth (absolute below 1).
 * @returns the path of the first difference, e.g. `.output[0].score`, with both values
 */
export function differenceOf(found: unknown, wanted: unknown, place = ''): string | undefined {
  if (typeof wanted === 'number' && typeof found === 'number')
    return Math.abs(found - wanted) <= TOLERANCE * Math.max(1, Math.abs(wanted))
      ? undefined
      : told(place, found, wanted);
  if (isTree(wanted) && isTree(found) && Array.isArray(wanted) === Array.isArray(found)) {
    const keys = Object.keys(wanted);
    if (keys.length !== Object.keys(found).length) return told(place, found, wanted);
    for (const key of keys) {
      const inner = Array.isArray(wanted) ? `${place}[${key}]` : `${place}.${key}`;
      if (!Object.hasOwn(found, key)) return told(inner, undefined, wanted[key]);
      const difference = differenceOf(found[key], wanted[key], inner);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  return found === wanted ? undefined : told(place, found, wanted);
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

const LONGEST = 60;

function told(place: string, found: unknown, wanted: unknown): string {
  const short = (value: unknown) => {
    const text = JSON.stringify(value) ?? 'nothing';
    return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  };
  return `${place || 'the answer'} is ${short(found)}, and was ${short(wanted)}`;
}
