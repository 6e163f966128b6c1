/**
 * A token bucket, as one number: the milliseconds until it is full again. It holds `calls` tokens then, and
 * one more comes every `seconds / calls`. The script for Redis reckons the same.
 */
export interface Bucket {
  /** Tokens when it is full. */
  calls: number;
  /** In which all of them come again. */
  seconds: number;
}

export interface TakeResult {
  /** Milliseconds until there is a token; 0: one was taken. */
  waitMs: number;
  /** Tokens that are left. */
  remaining: number;
}

/** Milliseconds until a bucket is full. */
export type BucketDebt = number;

export function takeToken(
  { calls, seconds }: Bucket,
  ahead: BucketDebt,
): { taken: TakeResult; ahead: BucketDebt } {
  const wholeMs = seconds * 1000;
  const intervalMs = wholeMs / calls;
  const next = ahead + intervalMs;
  if (next > wholeMs + ROUNDING_MS) return { taken: { waitMs: next - wholeMs, remaining: 0 }, ahead };
  return { taken: { waitMs: 0, remaining: Math.floor((wholeMs - next) / intervalMs + 1e-6) }, ahead: next };
}

/** Sums of intervals miss the whole by a little. */
const ROUNDING_MS = 0.001;
