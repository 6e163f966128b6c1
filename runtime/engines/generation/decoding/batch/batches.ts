import type { CacheLayout, SequenceCache } from '../cache/kv-cache.js';
import { createKvRows, type KvRows, type Row } from '../cache/batch-cache.js';

/** The batches under way. Rows of very different length go into different ones. */
export interface Batches {
  /** Puts a row with this cache into a batch. */
  join(cache: SequenceCache): { batch: KvRows; row: Row };
  /** Takes rows out; a batch that is empty then is no more. */
  leave(batch: KvRows, rows: Iterable<Row>): void;
  [Symbol.iterator](): Iterator<KvRows>;
}

/** Unused places that a batch may hold, as a multiple of used ones, and what is too little to matter. */
const MOST_PADDING = 2;
const SMALL_BYTES = 32 * 2 ** 20;

/** @param shares false: a batch for each generation, whose own rows (beams) share it */
export function createBatches(layout: CacheLayout, perToken: number, shares: boolean): Batches {
  const batches = new Set<KvRows>();

  /** A batch where a row of this length does not make the others much longer than they are. */
  function batchFor(length: number): KvRows | undefined {
    return [...batches].find(({ rows, capacity }) => {
      const padded = (rows.length + 1) * Math.max(capacity, length);
      const used = rows.reduce((sum, row) => sum + row.length, length);
      return padded * perToken <= SMALL_BYTES || padded <= MOST_PADDING * used;
    });
  }

  return {
    join(cache) {
      const batch = (shares && batchFor(cache.length)) || createKvRows(layout);
      const row = batch.add(cache);
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
