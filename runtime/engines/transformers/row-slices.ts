/** Rows that one request may have under way: others come in between, a cancel takes effect, memory is bounded. */
const SLICE = 64;

/** As `Promise.all(items.map(run))`, but a slice at a time; nothing more is begun after a failure. */
export async function inSlices<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += SLICE) {
    results.push(...(await Promise.all(items.slice(at, at + SLICE).map(run))));
  }
  return results;
}
