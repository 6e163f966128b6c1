import pLimit from 'p-limit';

/**
 * Results of `call` for all items, a few at a time. After the first failure the signal of the others is aborted, and none
 * is left running when this returns.
 */
export async function inParallel<Item, Result>(
  most: number,
  outer: AbortSignal | undefined,
  items: readonly Item[],
  call: (item: Item, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const failed = new AbortController();
  const signal = outer ? AbortSignal.any([outer, failed.signal]) : failed.signal;
  let cause: unknown;
  const limit = pLimit(most);
  const results = await Promise.allSettled(
    items.map((item) =>
      limit(async () => {
        signal.throwIfAborted();
        return call(item, signal);
      }).catch((error: unknown) => {
        if (!failed.signal.aborted) cause = error;
        failed.abort();
        throw error;
      }),
    ),
  );
  if (failed.signal.aborted) throw cause;
  return results.map((result) => (result as PromiseFulfilledResult<Result>).value);
}
