/**
 * A token bucket, stored as one number: the milliseconds until it is full. A full bucket has `calls` tokens; one token
 * returns every `seconds / calls`. The Redis script computes the same.
 */
export interface Bucket {
  /** Tokens of a full bucket. */
  calls: number;
  /** Time to fill an empty bucket. */
  seconds: number;
}

export interface LimitOptions extends Bucket {
  /** Most concurrent calls of one key; unlimited when absent. */
  concurrent?: number | undefined;
}

export interface TakeResult {
  /** Milliseconds until a token is available; 0 when one was taken. */
  waitMs: number;
  /** Tokens left. */
  remaining: number;
}

/** Milliseconds until a bucket is full. */
export type BucketDebt = number;

export function takeToken(
  { calls, seconds }: Bucket,
  debt: BucketDebt,
): { taken: TakeResult; debt: BucketDebt } {
  const capacityMs = seconds * 1000;
  const intervalMs = capacityMs / calls;
  const next = debt + intervalMs;
  if (next > capacityMs + ROUNDING_MS) return { taken: { waitMs: next - capacityMs, remaining: 0 }, debt };
  return {
    taken: { waitMs: 0, remaining: Math.floor((capacityMs - next) / intervalMs + 1e-6) },
    debt: next,
  };
}

/** Tolerance for the rounding errors of summed intervals. */
const ROUNDING_MS = 0.001;
