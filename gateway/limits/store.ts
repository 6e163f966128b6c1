import { type Bucket, type LimitOptions, takeToken, type TakeResult } from './bucket.js';

/** Where the limits of keys are counted. */
export interface LimitStore {
  /** Takes a token for a call. @param callId identifies the call until `end` @param rule the limits of the key now */
  take(keyId: string, callId: string, rule: LimitOptions): TakeResult | Promise<TakeResult>;
  /** The call has ended. */
  end(keyId: string, callId: string): void;
  close(): void;
}

/** A key has a bucket for each rate, so that one that is changed starts full and is not held to the debt of another. */
export const bucketName = ({ calls, seconds }: Bucket): string => `${calls}/${seconds}`;

/** Counts in this process. Only known keys are counted, so the map stays small. */
export function memoryStore(now: () => number = () => performance.now()): LimitStore {
  /** Key and rate -> time at which the bucket is full. */
  const fullAt = new Map<string, number>();
  return {
    take(keyId, _callId, rule) {
      const name = `${keyId} ${bucketName(rule)}`;
      const { taken, debt } = takeToken(rule, Math.max(0, (fullAt.get(name) ?? 0) - now()));
      fullAt.set(name, now() + debt);
      return taken;
    },
    end() {},
    close() {},
  };
}
