import type { Tensor } from 'onnxruntime-node';
import { type Elements, elements } from '../../../sessions/elements.js';
import { type CacheLayout, cacheTensor, type StatePort, stateSize } from './kv-cache.js';

/** States of fixed size of rows that are computed together: per port one tensor [rows, …], which runs read in place. */
export interface RowStates {
  /** Adds a row with these states at the end. */
  add(states: readonly Elements[]): void;
  /** Makes row `to` the same as row `from`; may be the one after the last. */
  copy(from: number, to: number): void;
  /** Takes a row out; the last one takes its place. */
  remove(row: number): void;
  /** Puts those of a run over all rows, [rows, …] per port, in the place of a row's. */
  replace(row: number, newStates: readonly Elements[]): void;
  /** A copy of a row's states. */
  extract(row: number): Elements[];
  /** The state inputs of a run. */
  feeds(): Record<string, Tensor>;
}

export function createRowStates({
  states: ports = [],
  type,
}: Pick<CacheLayout, 'states' | 'type'>): RowStates {
  let rows = 0;
  const data: Elements[] = ports.map(() => elements(type, 0));
  const partOf = (port: StatePort, of: Elements, row: number) =>
    of.subarray(row * stateSize(port), (row + 1) * stateSize(port));

  function resize(wanted: number): void {
    ports.forEach((port, i) => {
      const to = elements(type, wanted * stateSize(port));
      to.set(data[i]!.subarray(0, to.length));
      data[i] = to;
    });
    rows = wanted;
  }

  function copy(from: number, to: number): void {
    if (to === rows) resize(rows + 1);
    ports.forEach((port, i) => partOf(port, data[i]!, to).set(partOf(port, data[i]!, from)));
  }

  return {
    add(states) {
      resize(rows + 1);
      ports.forEach((port, i) => partOf(port, data[i]!, rows - 1).set(states[i]!));
    },
    copy,
    remove(row) {
      if (row !== rows - 1) copy(rows - 1, row);
      resize(rows - 1);
    },
    replace(row, newStates) {
      ports.forEach((port, i) => partOf(port, data[i]!, row).set(partOf(port, newStates[i]!, row)));
    },
    extract: (row) => ports.map((port, i) => partOf(port, data[i]!, row).slice()),
    feeds() {
      const tensors = ports.map(
        (port, i) => [port.past, cacheTensor(type, data[i]!, [rows, ...port.dims])] as const,
      );
      return Object.fromEntries(tensors);
    },
  };
}
