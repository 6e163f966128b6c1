import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from './errors.js';

export interface RetryOptions {
  /** Failures in a row without progress before giving up. */
  attempts: number;
  /** First delay in milliseconds; doubles each time, with jitter. */
  baseMs: number;
  signal?: AbortSignal | undefined;
}

const MAX_DELAY_MS = 30_000;
/** A longer Retry-After of the hub is an error at once. */
const MAX_RETRY_AFTER_MS = 120_000;

/**
 * Waits before attempt number `failures` + 1, or throws `error` if there should be none.
 * @param failures failed attempts in a row; 0 when the last one made progress before it failed
 */
export async function waitBeforeRetry(
  error: unknown,
  failures: number,
  options: RetryOptions,
): Promise<void> {
  options.signal?.throwIfAborted();
  if (!(error instanceof StoreError) || !error.retryable || failures >= options.attempts) throw error;
  const retryAfter = error.retryAfterMs ?? 0;
  if (retryAfter > MAX_RETRY_AFTER_MS) throw error;
  const delay = Math.min(options.baseMs * 2 ** (failures - 1), MAX_DELAY_MS) * (0.5 + Math.random());
  await sleep(Math.max(retryAfter, delay), undefined, { signal: options.signal });
}

/** Calls until it succeeds, fails permanently, or has used up its attempts. */
export async function withRetries<T>(call: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await call();
    } catch (error) {
      await waitBeforeRetry(error, failures, options);
    }
  }
}
