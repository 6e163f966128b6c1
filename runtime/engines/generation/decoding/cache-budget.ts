import { RunError } from '../../../core/errors.js';

/** Bytes that the caches of all generations may take together. */
export interface CacheBudget {
  /**
   * Sets bytes aside before a generation begins.
   * @throws RunError 422 for more than there will ever be, 503 for more than is free now
   */
  reserve(bytes: number): Reservation;
  /** Bytes that nobody has reserved. */
  readonly free: number;
}

export interface Reservation {
  readonly bytes: number;
  /** Raises it. @throws RunError 503 for more than is free */
  grow(bytes: number): void;
  release(): void;
}

const MEBI = 2 ** 20;
const inMiB = (bytes: number): string => `${Math.ceil(bytes / MEBI)} MiB`;

/** @param limit what sets the total, as messages name it */
export function createCacheBudget(total: number, limit = 'CACHE_BYTES'): CacheBudget {
  let taken = 0;

  function take(bytes: number): void {
    if (bytes > total) {
      throw new RunError(
        'unprocessable',
        `the generation may need ${inMiB(bytes)} of cache, more than the ${inMiB(total)} that there are ` +
          `(${limit}); ask for fewer tokens or beams`,
      );
    }
    if (taken + bytes > total) {
      throw new RunError(
        'overloaded',
        `${inMiB(bytes)} of cache are needed, ${inMiB(total - taken)} of ${inMiB(total)} are free (${limit})`,
        { retryAfter: 5 },
      );
    }
    taken += bytes;
  }

  return {
    get free() {
      return total - taken;
    },
    reserve(first) {
      take(first);
      let bytes = first;
      return {
        get bytes() {
          return bytes;
        },
        grow(wanted) {
          if (wanted <= bytes) return;
          take(wanted - bytes);
          bytes = wanted;
        },
        release() {
          taken -= bytes;
          bytes = 0;
        },
      };
    },
  };
}
