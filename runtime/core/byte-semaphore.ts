/** Bytes that those under way share; who finds too few free waits in line, first come, first served. */
export interface ByteSemaphore {
  /**
   * Waits until so many bytes are free and takes them.
   * @returns gives some of them back, or all that are left
   * @throws the signal's reason when it aborts before
   */
  acquire(bytes: number, signal?: AbortSignal): Promise<(some?: number) => void>;
  readonly total: number;
  /** Bytes that are taken. */
  readonly taken: number;
  /** How many wait. */
  readonly waiting: number;
}

interface Waiting {
  bytes: number;
  go(): void;
}

/** @param total what asks for more waits for all of it */
export function createByteSemaphore(total: number): ByteSemaphore {
  const line: Waiting[] = [];
  let taken = 0;

  function advance(): void {
    while (line.length > 0 && (taken === 0 || taken + line[0]!.bytes <= total)) {
      const next = line.shift()!;
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
      return line.length;
    },
    acquire(bytes, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error);
        const leave = () => {
          line.splice(line.indexOf(waiting), 1);
          reject(signal!.reason as Error);
          advance();
        };
        const waiting: Waiting = {
          bytes,
          go() {
            signal?.removeEventListener('abort', leave);
            let left = bytes;
            resolve((some = left) => {
              taken -= Math.min(some, left);
              left -= Math.min(some, left);
              advance();
            });
          },
        };
        signal?.addEventListener('abort', leave, { once: true });
        line.push(waiting);
        advance();
      });
    },
  };
}
