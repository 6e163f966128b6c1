import { RunError } from '../../core/errors.js';
import { createTurnQueue } from '../generation/decoding/cache/turn-queue.js';

/** Row ids of a context: each is somebody's, or free. */
export interface RowPool {
  readonly free: number;
  /** How many wait. */
  readonly waiting: number;
  /**
   * Sets so many aside.
   * @throws RunError 422 for more than there are, 503 for more than are free now
   */
  reserve(count: number): RowReservation;
  /** The same, but waits for what is not free now. @throws the signal's reason when it aborts before */
  reserveInTurn(count: number, signal: AbortSignal): Promise<RowReservation>;
}

/** Rows that a generation may have at a time. */
export interface RowReservation {
  take(): number;
  /** A row that has no tokens any more. */
  give(row: number): void;
  /** Gives a row away for good: it counts for this reservation no more, and whoever has it gives it back to the pool. */
  cede(row: number): void;
  release(): void;
}

export interface OwnedRowPool extends RowPool {
  /** Takes back a row that was ceded. */
  takeBack(row: number): void;
}

export function createRowPool(total: number): OwnedRowPool {
  const ids = Array.from({ length: total }, (_, i) => total - 1 - i);
  let free = total;
  const turns = createTurnQueue({ fits: (count) => count <= free, take: taken });

  function giveBack(count: number): void {
    free += count;
    turns.advance();
  }

  function refuseTooMany(count: number): void {
    if (count > total)
      throw new RunError(
        'unprocessable',
        `${count} rows are asked for, and this server has ${total}; ask for fewer beams`,
      );
  }

  function taken(count: number): RowReservation {
    free -= count;
    let left = count;
    return {
      take: () => ids.pop()!,
      give: (row) => void ids.push(row),
      cede: () => void left--,
      release() {
        const own = left;
        left = 0;
        giveBack(own);
      },
    };
  }

  return {
    get free() {
      return free;
    },
    get waiting() {
      return turns.waiting;
    },
    reserve(count) {
      refuseTooMany(count);
      if (count > free)
        throw new RunError('overloaded', `${count} rows are needed, ${free} of ${total} are free`, {
          retryAfter: 5,
        });
      return taken(count);
    },
    async reserveInTurn(count, signal) {
      signal.throwIfAborted();
      refuseTooMany(count);
      return turns.inTurn(count, signal);
    },
    takeBack(row) {
      ids.push(row);
      giveBack(1);
    },
  };
}
