import { RunError } from '../../runtime/core/errors.js';

/** Callers who wait for a model or for room. */
export interface AdmissionQueue {
  /** The next time that something changes, or a time later. */
  nextChange(ms: number): Promise<void>;
  /** Tells all that something has changed; each looks again. */
  wake(): void;
  /** @throws RunError `overloaded` when too many wait already, what the event throws, or the signal's reason */
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
    // One that has been aborted does not say so again.
    if (signal.aborted) leave();
  });
}
