/** Rows that one request may have under way: others come in between, a cancel takes effect, memory is bounded. */
const SLICE = 64;

/** Results in the order of the items, a slice of which is under way at a time; nothing is begun after a failure. */
export async function* mapInSlices<T, R>(
  items: Iterable<T>,
  run: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  let slice: T[] = [];
  for (const item of items) {
    slice.push(item);
    if (slice.length < SLICE) continue;
    yield* await Promise.all(slice.map(run));
    slice = [];
  }
  yield* await Promise.all(slice.map(run));
}
