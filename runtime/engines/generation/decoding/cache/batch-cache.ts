import type { Tensor } from 'onnxruntime-node';
import {
  type CacheLayout,
  type CachePort,
  cacheTensor,
  type TokenCopy,
  copyTokens,
  type SequenceCache,
} from './kv-cache.js';
import { type Elements, elements } from '../../../sessions/elements.js';

/** One row of the running batch. */
export interface BatchRow {
  /** Index in the batch; changes when rows before it leave. */
  index: number;
  /** Tokens in its cache. */
  length: number;
  /** How far its next tokens stand from their place. */
  readonly shift: number;
}

/**
 * Keys and values of the rows that are decoded together: per port one tensor [rows, heads, capacity, width], each row
 * filled from the left. Steps read it in place; only a change of rows or capacity copies.
 */
export interface BatchCache {
  readonly rows: readonly BatchRow[];
  /** Tokens that a row may hold. */
  readonly capacity: number;
  add(cache: SequenceCache, shift?: number): BatchRow;
  /** A new row with the cache of another one. */
  duplicate(row: BatchRow): BatchRow;
  remove(row: BatchRow): void;
  /** Raises the capacity where a row has no room for one more token. */
  growIfFull(): void;
  /** Adds the new token of these rows; `newEntries` are [all rows, heads, 1, width] per port. */
  append(rows: readonly BatchRow[], newEntries: readonly Elements[]): void;
  /** A copy of a row's cache. */
  extract(row: BatchRow): SequenceCache;
  /** The cache inputs of a step. */
  feeds(): Record<string, Tensor>;
}

/** Capacities are multiples of this many tokens. */
const CAPACITY_STEP = 32;
const roundUp = (tokens: number): number => Math.ceil(tokens / CAPACITY_STEP) * CAPACITY_STEP;

export function createBatchCache(layout: CacheLayout): BatchCache {
  const { ports, type } = layout;
  const rows: BatchRow[] = [];
  let capacity = 0;
  /** Rows that there is memory for. */
  let allocatedRows = 0;
  let data: Elements[] = ports.map(() => elements(type, 0));

  const startOf = (port: CachePort, row: number): number => row * port.heads * capacity * port.width;

  /** One port after the other, so that never all of them are there twice. */
  function resize(newRows: number, newCapacity: number): void {
    ports.forEach((port, i) => {
      const to = elements(type, newRows * port.heads * newCapacity * port.width);
      copyRows(port, rows, { from: data[i]!, fromStride: capacity, to, toStride: newCapacity });
      data[i] = to;
    });
    allocatedRows = newRows;
    capacity = newCapacity;
  }

  function addRow(length: number, shift: number): BatchRow {
    const wanted = Math.max(capacity, roundUp(length + 1));
    if (rows.length === allocatedRows || wanted > capacity)
      resize(Math.max(allocatedRows, rows.length + 1), wanted);
    const row = { index: rows.length, length, shift };
    rows.push(row);
    return row;
  }

  /** Copies a whole row, its unused end included. */
  function copyRow(from: number, to: number): void {
    ports.forEach((port, i) => {
      const start = startOf(port, from);
      data[i]!.copyWithin(startOf(port, to), start, start + startOf(port, 1));
    });
  }

  return {
    rows,
    get capacity() {
      return capacity;
    },
    add(cache, shift = 0) {
      const row = addRow(cache.length, shift);
      ports.forEach((port, i) => {
        const target = { to: data[i]!, toStart: startOf(port, row.index), toStride: capacity };
        copyTokens(port, cache.length, {
          ...target,
          from: cache.data[i]!,
          fromStart: 0,
          fromStride: cache.length,
        });
      });
      return row;
    },
    duplicate(row) {
      const copy = addRow(row.length, row.shift);
      copyRow(row.index, copy.index);
      return copy;
    },
    remove(row) {
      const last = rows.pop()!;
      if (last !== row) {
        copyRow(last.index, row.index);
        rows[row.index] = last;
        last.index = row.index;
      }
      const longest = Math.max(0, ...rows.map(({ length }) => length));
      const needed = rows.length === 0 ? 0 : roundUp(longest + 1);
      if (rows.length <= allocatedRows / 2 || needed <= capacity / 2) resize(rows.length, needed);
    },
    growIfFull() {
      const longest = Math.max(...rows.map(({ length }) => length));
      if (longest >= capacity) resize(allocatedRows, roundUp(longest + Math.max(CAPACITY_STEP, longest / 8)));
    },
    append(appended, newEntries) {
      ports.forEach((port, i) => {
        for (const { index, length } of appended) {
          copyTokens(port, 1, {
            ...{ from: newEntries[i]!, fromStart: index * port.heads * port.width, fromStride: 1 },
            ...{ to: data[i]!, toStart: startOf(port, index) + length * port.width, toStride: capacity },
          });
        }
      });
      for (const row of appended) row.length++;
    },
    extract: ({ index, length }) => ({
      length,
      data: ports.map((port, i) => {
        const to = elements(type, port.heads * length * port.width);
        const source = { from: data[i]!, fromStart: startOf(port, index), fromStride: capacity };
        copyTokens(port, length, { ...source, to, toStart: 0, toStride: length });
        return to;
      }),
    }),
    feeds() {
      const tensors = ports.map((port, i) => {
        const values = data[i]!.subarray(0, startOf(port, rows.length));
        const dims = [rows.length, port.heads, capacity, port.width];
        return [port.past, cacheTensor(type, values, dims)] as const;
      });
      return Object.fromEntries(tensors);
    },
  };
}

/** All rows to a tensor of another capacity. */
function copyRows(
  port: CachePort,
  rows: readonly BatchRow[],
  copy: Pick<TokenCopy, 'from' | 'fromStride' | 'to' | 'toStride'>,
): void {
  const size = port.heads * port.width;
  for (const { index, length } of rows) {
    const [fromStart, toStart] = [index * size * copy.fromStride, index * size * copy.toStride];
    copyTokens(port, length, { ...copy, fromStart, toStart });
  }
}
