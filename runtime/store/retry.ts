import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from './errors.js';

export interface RetryOptions {
  /** Failures in a row without any progress before giving up. */
  attempts: number;
  /** First wait in milliseconds; doubles each time, with jitter. */
  baseMs: number;
  signal?: AbortSignal | undefined;
}

const LONGEST_WAIT_MS = 30_000;
/** A hub that asks for more than this is not waited for. */
const LONGEST_RETRY_AFTER_MS = 120_000;

/**
 * Waits before attempt number `failures` + 1, or throws `error` when there shall be none.
 * @param failures failed attempts in a row; 0 when the last one made progress before it failed
 */
export async function waitBeforeRetry(
  error: unknown,
  failures: number,
  options: RetryOptions,
): Promise<void> {
  options.signal?.throwIfAborted();
  if (!(error instanceof StoreError) || !error.retryable || failures >= options.attempts) throw error;
  const asked = error.retryAfterMs ?? 0;
  if (asked > LONGEST_RETRY_AFTER_MS) throw error;
  const wait = Math.min(options.baseMs * 2 ** (failures - 1), LONGEST_WAIT_MS) * (0.5 + Math.random());
  await sleep(Math.max(asked, wait), undefined, { signal: options.signal });
}

/** Calls until it works, fails for good, or has failed often enough. */
export async function withRetries<T>(call: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await call();
    } catch (error) {
      await waitBeforeRetry(error, failures, options);
    }
  }
}
