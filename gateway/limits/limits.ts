import { randomUUID } from 'node:crypto';
import { RunError } from '../../runtime/core/errors.js';
import type { LimitOptions, TakeResult } from './bucket.js';
import { effectiveLimits, type OwnLimits } from './own-limits.js';
import { type LimitStore, memoryStore } from './store.js';

export interface RateLimits {
  /**
   * Counts one call of a key.
   * @param own limits of this key, in place of those of all; what has changed since the last call counts from this one on
   * @throws RunError `rate_limited`
   */
  enter(keyId: string, own?: OwnLimits): Promise<CallReservation>;
  /** Running calls of all keys. */
  activeCalls(): number;
  close(): void;
}

export interface CallReservation {
  /** Calls that the key may still make at once. */
  remaining: number;
  /** Calls that it may make at once after a pause. */
  limit: number;
  /** Call it when the call has ended. */
  release(): void;
}

/** Limits per key: a token bucket, and the number of concurrent calls. */
export function createLimits(options: LimitOptions, store: LimitStore = memoryStore()): RateLimits {
  const activeByKey = new Map<string, number>();
  const leave = (keyId: string, callId: string) => {
    const remaining = activeByKey.get(keyId)! - 1;
    if (remaining === 0) activeByKey.delete(keyId);
    else activeByKey.set(keyId, remaining);
    store.end(keyId, callId);
  };
  async function take(keyId: string, callId: string, rule: LimitOptions): Promise<TakeResult> {
    try {
      return await store.take(keyId, callId, rule);
    } catch (error) {
      leave(keyId, callId);
      throw error;
    }
  }
  return {
    async enter(keyId, own) {
      const rule = effectiveLimits(options, own);
      const active = activeByKey.get(keyId) ?? 0;
      if (active >= (rule.concurrent ?? Infinity)) throw rateLimited(1000);
      const callId = randomUUID();
      // Counted before the store answers, because calls arrive concurrently.
      activeByKey.set(keyId, active + 1);
      const { waitMs, remaining } = await take(keyId, callId, rule);
      if (waitMs === 0) return { remaining, limit: rule.calls, release: () => leave(keyId, callId) };
      leave(keyId, callId);
      throw rateLimited(waitMs);
    },
    activeCalls: () => [...activeByKey.values()].reduce((sum, calls) => sum + calls, 0),
    close: () => store.close(),
  };
}

function rateLimited(waitMs: number): RunError {
  return new RunError('rate_limited', 'Rate limit exceeded', {
    retryAfter: Math.max(1, Math.ceil(waitMs / 1000)),
  });
}
