import { RunError } from '../../runtime/core/errors.js';

/** Callers waiting for a server or for memory. */
export interface AdmissionQueue {
  /** Resolves at the next `wake`, or after `ms`. */
  nextChange(ms: number): Promise<void>;
  /** Wakes all who wait in `nextChange`, to check again. */
  wake(): void;
  /** Waits for the event. @throws RunError `overloaded` when too many wait already, the event's error, or the abort reason */
  wait(event: Promise<void>, signal: AbortSignal): Promise<void>;
}

export function createAdmissionQueue(maxWaiting: number): AdmissionQueue {
  const wakers = new Set<() => void>();
  let waiting = 0;
  return {
    nextChange: (ms) =>
      new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          wakers.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, ms).unref();
        wakers.add(wake);
      }),
    wake() {
      for (const wake of wakers) wake();
    },
    async wait(event, signal) {
      if (waiting >= maxWaiting)
        throw new RunError('overloaded', 'too many callers wait for models to start', { retryAfter: 5 });
      waiting++;
      try {
        await unlessAborted(event, signal);
      } finally {
        waiting--;
      }
    },
  };
}

function unlessAborted(event: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    event.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    // A signal that was aborted before emits no event.
    if (signal.aborted) leave();
  });
}
