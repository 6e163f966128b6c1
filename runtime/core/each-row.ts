/** Longest time that a large one keeps other requests waiting at once. */
const SLICE_MS = 8;

/**
 * Calls `use` for each row of a picture or frame of a sound, in short slices of the event loop: work over all of a large one takes
 * seconds. Rejects with the signal's reason when that aborts between two slices.
 */
export async function eachRow(height: number, signal: AbortSignal, use: (y: number) => void): Promise<void> {
  signal.throwIfAborted();
  let since = performance.now();
  for (let y = 0; y < height; y++) {
    if (performance.now() - since > SLICE_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      since = performance.now();
    }
    use(y);
  }
}
