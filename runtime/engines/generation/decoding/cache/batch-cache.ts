import type { Tensor } from 'onnxruntime-node';
import {
  type CacheLayout,
  type CachePort,
  cacheTensor,
  type Copy,
  copyTokens,
  type SequenceCache,
} from './kv-cache.js';
import { type Elements, elements } from '../../../sessions/elements.js';

/** One row of the running batch. */
export interface Row {
  /** Place in the batch; changes when rows before it leave. */
  index: number;
  /** Tokens that it has seen. */
  length: number;
}

/**
 * Keys and values of the rows that are decoded together: per port one tensor [rows, heads, capacity, width], each row
 * filled from the left. Steps read it in place; only a change of rows or capacity copies.
 */
export interface KvRows {
  readonly rows: readonly Row[];
  /** Tokens that a row may hold. */
  readonly capacity: number;
  add(cache: SequenceCache): Row;
  /** A new row with what another one has seen. */
  duplicate(row: Row): Row;
  remove(row: Row): void;
  /** Makes room for one more token in each row. */
  makeRoom(): void;
  /** Takes the new token [rows, heads, 1, width] of these rows. */
  write(rows: readonly Row[], fresh: readonly Elements[]): void;
  /** What a row has seen, as a copy. */
  extract(row: Row): SequenceCache;
  /** Cache inputs of a step. */
  feeds(): Record<string, Tensor>;
}

const STEP = 32;
const roundUp = (tokens: number): number => Math.ceil(tokens / STEP) * STEP;

export function createKvRows(layout: CacheLayout): KvRows {
  const { ports, type } = layout;
  const rows: Row[] = [];
  let capacity = 0;
  /** Rows that there is memory for. */
  let places = 0;
  let data: Elements[] = ports.map(() => elements(type, 0));

  const startOf = (port: CachePort, row: number): number => row * port.heads * capacity * port.width;

  /** One port after the other, so that never all of them are there twice. */
  function resize(newPlaces: number, newCapacity: number): void {
    ports.forEach((port, i) => {
      const to = elements(type, newPlaces * port.heads * newCapacity * port.width);
      copyRows(port, rows, { from: data[i]!, fromStride: capacity, to, toStride: newCapacity });
      data[i] = to;
    });
    places = newPlaces;
    capacity = newCapacity;
  }

  function place(length: number): Row {
    const wanted = Math.max(capacity, roundUp(length + 1));
    if (rows.length === places || wanted > capacity) resize(Math.max(places, rows.length + 1), wanted);
    const row = { index: rows.length, length };
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
    add(cache) {
      const row = place(cache.length);
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
      const twin = place(row.length);
      copyRow(row.index, twin.index);
      return twin;
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
      if (rows.length <= places / 2 || needed <= capacity / 2) resize(rows.length, needed);
    },
    makeRoom() {
      const longest = Math.max(...rows.map(({ length }) => length));
      if (longest >= capacity) resize(places, roundUp(longest + Math.max(STEP, longest / 8)));
    },
    write(chosen, fresh) {
      ports.forEach((port, i) => {
        for (const { index, length } of chosen) {
          copyTokens(port, 1, {
            ...{ from: fresh[i]!, fromStart: index * port.heads * port.width, fromStride: 1 },
            ...{ to: data[i]!, toStart: startOf(port, index) + length * port.width, toStride: capacity },
          });
        }
      });
      for (const row of chosen) row.length++;
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
  rows: readonly Row[],
  copy: Pick<Copy, 'from' | 'fromStride' | 'to' | 'toStride'>,
): void {
  const size = port.heads * port.width;
  for (const { index, length } of rows) {
    const [fromStart, toStart] = [index * size * copy.fromStride, index * size * copy.toStride];
    copyTokens(port, length, { ...copy, fromStart, toStart });
  }
}
