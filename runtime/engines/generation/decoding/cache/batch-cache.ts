import type { Tensor } from 'onnxruntime-node';
import type { CacheLayout, FedTokens, SequenceCache } from './kv-cache.js';
import { createRowStates } from './row-states.js';
import { createRowTensors } from './row-tensors.js';

/** One row of the running batch. */
export interface BatchRow {
  /** Index in the batch; changes when rows before it leave. */
  readonly index: number;
  /** Tokens in its cache. */
  readonly length: number;
  /** Tokens of the source that it attends to. */
  readonly sourceLength: number;
  /** How far its next tokens stand from their position. */
  readonly shift: number;
}

/**
 * What rows that are decoded together keep: keys and values of their tokens, and of the source of each, and states of fixed size.
 */
export interface BatchCache {
  readonly rows: readonly BatchRow[];
  /** Tokens that a row may hold, and tokens that a source may have. */
  readonly capacity: number;
  readonly sourceCapacity: number;
  add(cache: SequenceCache, shift?: number): BatchRow;
  /** A new row with the cache of another one. */
  duplicate(row: BatchRow): BatchRow;
  /** Makes a row go on as another one of the same source. */
  overwrite(row: BatchRow, from: BatchRow): void;
  remove(row: BatchRow): void;
  /** Raises the capacity where a row has no room for one more token. */
  growIfFull(): void;
  /** Adds the new token of these rows; what was fed is that of all rows. */
  append(rows: readonly BatchRow[], fed: Omit<FedTokens, 'tokens'>): void;
  /** A copy of a row's cache. */
  extract(row: BatchRow): SequenceCache;
  /** The cache inputs of a step. */
  feeds(): Record<string, Tensor>;
}

/** Capacities are multiples of this many tokens. */
const CAPACITY_STEP = 32;
const roundUp = (tokens: number): number => Math.ceil(tokens / CAPACITY_STEP) * CAPACITY_STEP;

const NO_SOURCE = { length: 0, data: [] };

export function createBatchCache(layout: CacheLayout): BatchCache {
  const { ports, type, source: sourcePorts = [] } = layout;
  const rows: (BatchRow & { index: number })[] = [];
  const own = createRowTensors({ ports, type }, (longest) => roundUp(longest + 1));
  const source = createRowTensors({ ports: sourcePorts, type }, (longest) => longest);
  const states = createRowStates(layout);

  function newRow(shift: number): BatchRow {
    const row = {
      ...{ index: rows.length, shift },
      get length(): number {
        return own.lengths[this.index]!;
      },
      get sourceLength(): number {
        return source.lengths[this.index]!;
      },
    };
    rows.push(row);
    return row;
  }

  return {
    rows,
    get capacity() {
      return own.capacity;
    },
    get sourceCapacity() {
      return source.capacity;
    },
    add(cache, shift = 0) {
      own.add(cache);
      source.add(cache.source ?? NO_SOURCE);
      states.add(cache.states);
      return newRow(shift);
    },
    duplicate({ index, shift }) {
      own.copy(index, rows.length);
      source.copy(index, rows.length);
      states.copy(index, rows.length);
      return newRow(shift);
    },
    overwrite(row, from) {
      own.copy(from.index, row.index);
      states.copy(from.index, row.index);
    },
    remove({ index }) {
      own.remove(index);
      source.remove(index);
      states.remove(index);
      const last = rows.pop()!;
      if (last.index === index) return;
      last.index = index;
      rows[index] = last;
    },
    growIfFull() {
      const longest = Math.max(...own.lengths);
      if (longest >= own.capacity) own.grow(roundUp(longest + Math.max(CAPACITY_STEP, longest / 8)));
    },
    append(appended, { newEntries, newStates }) {
      for (const { index } of appended) {
        own.append(index, newEntries);
        states.replace(index, newStates);
      }
    },
    extract: ({ index }) => ({ ...own.extract(index), states: states.extract(index) }),
    feeds: () => ({ ...own.feeds(), ...source.feeds(), ...states.feeds() }),
  };
}
