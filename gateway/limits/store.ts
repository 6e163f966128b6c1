import { type Bucket, takeToken, type TakeResult } from './bucket.js';

/** Where the limits of keys are counted. */
export interface LimitStore {
  /** Takes a token for a call. @param callId identifies the call until `end` */
  take(keyId: string, callId: string): TakeResult | Promise<TakeResult>;
  /** The call has ended. */
  end(keyId: string, callId: string): void;
  close(): void;
}

/** Counts in this process. Only known keys are counted, so the map stays small. */
export function memoryStore(bucket: Bucket, now: () => number = () => performance.now()): LimitStore {
  /** Key id -> time at which its bucket is full. */
  const fullAt = new Map<string, number>();
  return {
    take(keyId) {
      const { taken, debt } = takeToken(bucket, Math.max(0, (fullAt.get(keyId) ?? 0) - now()));
      fullAt.set(keyId, now() + debt);
      return taken;
    },
    end() {},
    close() {},
  };
}
