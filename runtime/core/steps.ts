/** Long work of this thread in steps of a millisecond at most. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Does all of it at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const next = steps.next();
    if (next.done) return next.value;
  }
}

/** Longest time that others wait. */
const SLICE_MS = 8;

/**
 * Does it in short slices of the event loop, in between which others are served. Rejects with the signal's reason when that
 * aborts between two slices.
 */
export async function inSlices<T>(steps: Steps<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let since = performance.now();
  for (;;) {
    const next = steps.next();
    if (next.done) return next.value;
    if (performance.now() - since <= SLICE_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    since = performance.now();
  }
}
