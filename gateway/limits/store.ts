import { type Bucket, takeToken, type TakeResult } from './bucket.js';

/** Where what keys have used up is counted. */
export interface LimitStore {
  /** Takes a token of a key for a call. @param callId names the call until `end` */
  take(keyId: string, callId: string): TakeResult | Promise<TakeResult>;
  /** The call has ended. */
  end(keyId: string, callId: string): void;
  close(): void;
}

/** Counts in this process. Only keys that were given out get here, so it stays as small as their list. */
export function memoryStore(bucket: Bucket, now: () => number = () => performance.now()): LimitStore {
  /** When each key's bucket is full again. */
  const full = new Map<string, number>();
  return {
    take(keyId) {
      const { taken, ahead } = takeToken(bucket, Math.max(0, (full.get(keyId) ?? 0) - now()));
      full.set(keyId, now() + ahead);
      return taken;
    },
    end() {},
    close() {},
  };
}
