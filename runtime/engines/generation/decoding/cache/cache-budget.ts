import { RunError } from '../../../../core/errors.js';
import { createTurnQueue } from './turn-queue.js';

/** Bytes that the caches of all generations may take together. */
export interface CacheBudget {
  /**
   * Sets bytes aside before a generation begins.
   * @throws RunError 422 for more than there will ever be, 503 for more than is free now
   */
  reserve(bytes: number): Reservation;
  /**
   * The same, but waits in a queue for what is not free now. Only for callers that hold no reservation: two that hold
   * one could wait for each other.
   * @throws RunError 422 for more than there will ever be; the signal's reason when it aborts before
   */
  reserveInTurn(bytes: number, signal: AbortSignal): Promise<Reservation>;
  /** How many wait. */
  readonly waiting: number;
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
  const turns = createTurnQueue({ fits: (bytes) => taken + bytes <= total, take: reserve });

  function refuseTooMuch(bytes: number): void {
    if (bytes > total) {
      throw new RunError(
        'unprocessable',
        `the generation may need ${inMiB(bytes)} of cache, more than the ${inMiB(total)} that there are ` +
          `(${limit}); ask for fewer tokens or beams`,
      );
    }
  }

  function take(bytes: number): void {
    refuseTooMuch(bytes);
    if (taken + bytes > total) {
      throw new RunError(
        'overloaded',
        `${inMiB(bytes)} of cache are needed, ${inMiB(total - taken)} of ${inMiB(total)} are free (${limit})`,
        { retryAfter: 5 },
      );
    }
    taken += bytes;
  }

  function reserve(first: number): Reservation {
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
        turns.advance();
      },
    };
  }

  return {
    reserve,
    get free() {
      return total - taken;
    },
    get waiting() {
      return turns.waiting;
    },
    async reserveInTurn(bytes, signal) {
      signal.throwIfAborted();
      refuseTooMuch(bytes);
      return turns.inTurn(bytes, signal);
    },
  };
}
