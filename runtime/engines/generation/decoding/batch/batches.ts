import type { CacheLayout, SequenceCache } from '../cache/kv-cache.js';
import { createBatchCache, type BatchCache, type BatchRow } from '../cache/batch-cache.js';

/** The batches under way. Rows of very different lengths go into different batches. */
export interface Batches {
  /** Puts a row with this cache into a batch. `shift` as in BatchRow. */
  join(cache: SequenceCache, shift?: number): { batch: BatchCache; row: BatchRow };
  /** Takes rows out; a batch without rows is dropped. */
  leave(batch: BatchCache, rows: Iterable<BatchRow>): void;
  [Symbol.iterator](): Iterator<BatchCache>;
}

/** Most memory of a batch as a multiple of what its tokens take, and the size below which that does not matter. */
const MAX_PADDING = 2;
const SMALL_BATCH_BYTES = 32 * 2 ** 20;

/** @param sharesRuns false: a batch for each generation, whose own rows (beams) share it */
export function createBatches(layout: CacheLayout, bytesPerToken: number, sharesRuns: boolean): Batches {
  const batches = new Set<BatchCache>();

  /** A batch whose padding stays small with a row of this length. */
  function batchFor(length: number): BatchCache | undefined {
    return [...batches].find(({ rows, capacity }) => {
      const padded = (rows.length + 1) * Math.max(capacity, length);
      const used = rows.reduce((sum, row) => sum + row.length, length);
      return padded * bytesPerToken <= SMALL_BATCH_BYTES || padded <= MAX_PADDING * used;
    });
  }

  return {
    join(cache, shift) {
      const batch = (sharesRuns && batchFor(cache.length)) || createBatchCache(layout);
      const row = batch.add(cache, shift);
      batches.add(batch);
      return { batch, row };
    },
    leave(batch, rows) {
      for (const row of rows) batch.remove(row);
      if (batch.rows.length === 0) batches.delete(batch);
    },
    [Symbol.iterator]: () => batches.values(),
  };
}
