import * as z from 'zod';

const MOST = 1e9;

/** Limits of one key, in place of those of all keys. */
export const keyLimits = z.strictObject({
  calls: z.int().min(1).max(MOST),
  /** Time in which as many calls come back. */
  seconds: z
    .number()
    .min(0.001)
    .max(31 * 86_400),
  /** Most calls at once; unlimited when absent. */
  concurrent: z.int().min(1).max(MOST).optional(),
});

export type KeyLimits = z.output<typeof keyLimits>;

/** `100/60s, 4 at once`. */
export function describeLimits({ calls, seconds, concurrent }: KeyLimits): string {
  return `${calls}/${seconds}s${concurrent === undefined ? '' : `, ${concurrent} at once`}`;
}
