import { type CacheLayout, kvBytesPerToken, type SequenceCache } from '../cache/kv-cache.js';
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

type Lengths = Pick<BatchRow, 'length' | 'sourceLength'>;

/** Bytes of a row. */
function bytesIn({ ports, source = [], type }: CacheLayout): (row: Lengths) => number {
  const [own, other] = [kvBytesPerToken({ ports, type }), kvBytesPerToken({ ports: source, type })];
  return ({ length, sourceLength }) => length * own + sourceLength * other;
}

/** @param sharesRuns false: a batch for each generation, whose own rows (beams) share it */
export function createBatches(layout: CacheLayout, sharesRuns: boolean): Batches {
  const batches = new Set<BatchCache>();
  const bytesOf = bytesIn(layout);

  /** A batch whose padding stays small with a row of these lengths. */
  function batchFor(row: Lengths): BatchCache | undefined {
    return [...batches].find(({ rows, capacity, sourceCapacity }) => {
      const length = Math.max(capacity, row.length);
      const padded =
        (rows.length + 1) * bytesOf({ length, sourceLength: Math.max(sourceCapacity, row.sourceLength) });
      const used = rows.reduce((sum, each) => sum + bytesOf(each), bytesOf(row));
      return padded <= SMALL_BATCH_BYTES || padded <= MAX_PADDING * used;
    });
  }

  return {
    join(cache, shift) {
      const lengths = { length: cache.length, sourceLength: cache.source?.length ?? 0 };
      const batch = (sharesRuns && batchFor(lengths)) || createBatchCache(layout);
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
