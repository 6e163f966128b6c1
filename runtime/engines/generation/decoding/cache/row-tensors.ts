import type { Tensor } from 'onnxruntime-node';
import { type Elements, elements } from '../../../sessions/elements.js';
import { type CacheLayout, type CachePort, cacheTensor, copyTokens, type KeysValues } from './kv-cache.js';

/**
 * Keys and values of rows that are computed together: per port one tensor [rows, heads, capacity, width], each row filled
 * from the left. Runs read it in place; only a change of rows or capacity copies.
 */
export interface RowTensors {
  /** Tokens of each row. */
  readonly lengths: readonly number[];
  /** Tokens that a row may hold. */
  readonly capacity: number;
  /** Adds a row with these tokens at the end. */
  add(content: KeysValues): void;
  /** Makes row `to` the same as row `from`; may be the one after the last. */
  copy(from: number, to: number): void;
  /** Takes a row out; the last one takes its place. */
  remove(row: number): void;
  /** Raises the capacity to at least this many tokens. */
  grow(capacity: number): void;
  /** Adds a token to a row; `newEntries` are [all rows, heads, 1, width] per port. */
  append(row: number, newEntries: readonly Elements[]): void;
  /** A copy of a row's tokens. */
  extract(row: number): KeysValues;
  /** The cache inputs of a run. */
  feeds(): Record<string, Tensor>;
}

/** @param capacityFor what rows are made for, by the tokens of the longest */
export function createRowTensors(
  { ports, type }: Pick<CacheLayout, 'ports' | 'type'>,
  capacityFor: (longest: number) => number,
): RowTensors {
  const lengths: number[] = [];
  let capacity = 0;
  /** Rows that there is memory for. */
  let allocatedRows = 0;
  const data: Elements[] = ports.map(() => elements(type, 0));

  const startOf = (port: CachePort, row: number): number => row * port.heads * capacity * port.width;

  /** One port after the other, so that never all of them are there twice. */
  function resize(newRows: number, newCapacity: number): void {
    ports.forEach((port, i) => {
      const to = elements(type, newRows * port.heads * newCapacity * port.width);
      lengths.forEach((length, row) => {
        const target = { to, toStart: row * port.heads * newCapacity * port.width, toStride: newCapacity };
        const source = { from: data[i]!, fromStart: startOf(port, row), fromStride: capacity };
        copyTokens(port, length, { ...source, ...target });
      });
      data[i] = to;
    });
    allocatedRows = newRows;
    capacity = newCapacity;
  }

  /** Room for one more row of this length. */
  function makeRoom(length: number): void {
    const wanted = Math.max(capacity, capacityFor(length));
    if (lengths.length === allocatedRows || wanted > capacity)
      resize(Math.max(allocatedRows, lengths.length + 1), wanted);
  }

  function copy(from: number, to: number): void {
    if (to === lengths.length) makeRoom(lengths[from]!);
    ports.forEach((port, i) => {
      const [fromStart, toStart] = [startOf(port, from), startOf(port, to)];
      const strides = { fromStride: capacity, toStride: capacity };
      copyTokens(port, lengths[from]!, { from: data[i]!, to: data[i]!, fromStart, toStart, ...strides });
    });
    lengths[to] = lengths[from]!;
  }

  return {
    lengths,
    get capacity() {
      return capacity;
    },
    add(content) {
      makeRoom(content.length);
      ports.forEach((port, i) => {
        const target = { to: data[i]!, toStart: startOf(port, lengths.length), toStride: capacity };
        const source = { from: content.data[i]!, fromStart: 0, fromStride: content.length };
        copyTokens(port, content.length, { ...source, ...target });
      });
      lengths.push(content.length);
    },
    copy,
    remove(row) {
      const last = lengths.length - 1;
      if (row !== last) copy(last, row);
      lengths.pop();
      const needed = lengths.length === 0 ? 0 : capacityFor(Math.max(...lengths));
      if (lengths.length <= allocatedRows / 2 || needed <= capacity / 2) resize(lengths.length, needed);
    },
    grow(wanted) {
      if (wanted > capacity) resize(allocatedRows, wanted);
    },
    append(row, newEntries) {
      const at = lengths[row]!;
      ports.forEach((port, i) => {
        copyTokens(port, 1, {
          ...{ from: newEntries[i]!, fromStart: row * port.heads * port.width, fromStride: 1 },
          ...{ to: data[i]!, toStart: startOf(port, row) + at * port.width, toStride: capacity },
        });
      });
      lengths[row] = at + 1;
    },
    extract(row) {
      const length = lengths[row]!;
      const rowData = ports.map((port, i) => {
        const to = elements(type, port.heads * length * port.width);
        const source = { from: data[i]!, fromStart: startOf(port, row), fromStride: capacity };
        copyTokens(port, length, { ...source, to, toStart: 0, toStride: length });
        return to;
      });
      return { length, data: rowData };
    },
    feeds() {
      const tensors = ports.map((port, i) => {
        const values = data[i]!.subarray(0, startOf(port, lengths.length));
        const dims = [lengths.length, port.heads, capacity, port.width];
        return [port.past, cacheTensor(type, values, dims)] as const;
      });
      return Object.fromEntries(tensors);
    },
  };
}
