/** A semaphore for bytes; waiters are served first in, first out. */
export interface ByteSemaphore {
  /**
   * Waits until this many bytes are free and takes them.
   * @returns a function that releases some of them, or all that are left
   * @throws the abort reason
   */
  acquire(bytes: number, signal?: AbortSignal): Promise<(some?: number) => void>;
  readonly total: number;
  /** Bytes taken. */
  readonly taken: number;
  /** Number of waiters. */
  readonly waiting: number;
}

interface Waiting {
  bytes: number;
  go(): void;
}

/** @param total a request for more waits until all of it is free */
export function createByteSemaphore(total: number): ByteSemaphore {
  const queue: Waiting[] = [];
  let taken = 0;

  function advance(): void {
    while (queue.length > 0 && (taken === 0 || taken + queue[0]!.bytes <= total)) {
      const next = queue.shift()!;
      taken += next.bytes;
      next.go();
    }
  }

  return {
    total,
    get taken() {
      return taken;
    },
    get waiting() {
      return queue.length;
    },
    acquire(bytes, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error);
        const leave = () => {
          queue.splice(queue.indexOf(waiting), 1);
          reject(signal!.reason as Error);
          advance();
        };
        const waiting: Waiting = {
          bytes,
          go() {
            signal?.removeEventListener('abort', leave);
            let remaining = bytes;
            resolve((some = remaining) => {
              taken -= Math.min(some, remaining);
              remaining -= Math.min(some, remaining);
              advance();
            });
          },
        };
        signal?.addEventListener('abort', leave, { once: true });
        queue.push(waiting);
        advance();
      });
    },
  };
}
