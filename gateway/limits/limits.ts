import { randomUUID } from 'node:crypto';
import { RunError } from '../../runtime/core/errors.js';
import type { Bucket, TakeResult } from './bucket.js';
import { type LimitStore, memoryStore } from './store.js';

export interface LimitOptions extends Bucket {
  /** Calls of a key that may be under way; none: as many as there are. */
  concurrent?: number | undefined;
}

export interface RateLimits {
  /**
   * Counts one call of a key.
   * @throws RunError `rate_limited`
   */
  enter(keyId: string): Promise<CallReservation>;
  /** Calls under way, of all keys. */
  activeCalls(): number;
  close(): void;
}

export interface CallReservation {
  /** Calls that the key may make at once from now on. */
  remaining: number;
  /** Calls that it may make at once when it has made none for a while. */
  limit: number;
  /** To be called when the call has ended. */
  release(): void;
}

/** Limits per key: a token bucket, and calls at the same time. */
export function createLimits(options: LimitOptions, store: LimitStore = memoryStore(options)): RateLimits {
  const { calls, concurrent = Infinity } = options;
  const underWay = new Map<string, number>();
  const leave = (keyId: string, callId: string) => {
    const left = underWay.get(keyId)! - 1;
    if (left === 0) underWay.delete(keyId);
    else underWay.set(keyId, left);
    store.end(keyId, callId);
  };
  async function take(keyId: string, callId: string): Promise<TakeResult> {
    try {
      return await store.take(keyId, callId);
    } catch (error) {
      leave(keyId, callId);
      throw error;
    }
  }
  return {
    async enter(keyId) {
      const now = underWay.get(keyId) ?? 0;
      if (now >= concurrent) throw limited(1000);
      const callId = randomUUID();
      // Before the store answers: many may ask at the same time.
      underWay.set(keyId, now + 1);
      const { waitMs, remaining } = await take(keyId, callId);
      if (waitMs === 0) return { remaining, limit: calls, release: () => leave(keyId, callId) };
      leave(keyId, callId);
      throw limited(waitMs);
    },
    activeCalls: () => [...underWay.values()].reduce((sum, calls) => sum + calls, 0),
    close: () => store.close(),
  };
}

function limited(waitMs: number): RunError {
  return new RunError('rate_limited', 'Rate limit exceeded', {
    retryAfter: Math.max(1, Math.ceil(waitMs / 1000)),
  });
}
