import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { RunError } from '../runtime/core/errors.js';

export interface LimitOptions {
  /** Calls that a key may make within `seconds`. */
  calls: number;
  seconds: number;
  /** Calls of a key that may be under way; none: as many as there are. */
  concurrent?: number | undefined;
}

export interface Limits {
  /**
   * Counts one call of a key.
   * @returns what is to be called when the call has ended
   * @throws RunError `rate_limited`
   */
  enter(keyId: string): Promise<() => void>;
}

/** Limits per key, counted in this process. */
export function createLimits({ calls, seconds, concurrent = Infinity }: LimitOptions): Limits {
  const limiter = new RateLimiterMemory({ points: calls, duration: seconds });
  const underWay = new Map<string, number>();
  return {
    async enter(keyId) {
      const now = underWay.get(keyId) ?? 0;
      if (now >= concurrent) throw limited(1000);
      await limiter.consume(keyId).catch((refusal: unknown) => {
        throw refusal instanceof RateLimiterRes ? limited(refusal.msBeforeNext) : (refusal as Error);
      });
      underWay.set(keyId, (underWay.get(keyId) ?? 0) + 1);
      return () => {
        const left = underWay.get(keyId)! - 1;
        if (left === 0) underWay.delete(keyId);
        else underWay.set(keyId, left);
      };
    },
  };
}

function limited(waitMs: number): RunError {
  return new RunError('rate_limited', 'Rate limit exceeded', {
    retryAfter: Math.max(1, Math.ceil(waitMs / 1000)),
  });
}
