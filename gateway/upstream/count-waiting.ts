import type { Upstream } from './upstream.js';

/** Wraps an upstream to count the callers waiting in it. */
export function countWaiting(upstream: Upstream): Upstream & { waiting(): number } {
  let waiting = 0;
  return {
    ...upstream,
    async acquire(entry, signal) {
      waiting++;
      try {
        return await upstream.acquire(entry, signal);
      } finally {
        waiting--;
      }
    },
    waiting: () => waiting,
  };
}
