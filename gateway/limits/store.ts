import { type Bucket, type LimitOptions, takeToken, type TakeResult } from './bucket.js';

/** Where the limits of keys are counted. */
export interface LimitStore {
  /**
   * Takes a token for a call.
   * @param callId identifies the call until `end`
   * @param rule of the key now; it may change from call to call
   */
  take(keyId: string, callId: string, rule: LimitOptions): TakeResult | Promise<TakeResult>;
  /** The call has ended. */
  end(keyId: string, callId: string): void;
  close(): void;
}

/** Counts in this process. Only known keys are counted, so the map stays small. */
export function memoryStore(now: () => number = () => performance.now()): LimitStore {
  /** Key id -> time at which its bucket is full. */
  const buckets = new Map<string, { rate: string; fullAt: number }>();
  return {
    take(keyId, _callId, rule) {
      const rate = rateOf(rule);
      const known = buckets.get(keyId);
      const fullAt = known?.rate === rate ? known.fullAt : 0;
      const { taken, debt } = takeToken(rule, Math.max(0, fullAt - now()));
      buckets.set(keyId, { rate, fullAt: now() + debt });
      return taken;
    },
    end() {},
    close() {},
  };
}

/** A bucket belongs to a rate: one that was changed begins with a full bucket. */
export const rateOf = ({ calls, seconds }: Bucket): string => `${calls}/${seconds}`;
