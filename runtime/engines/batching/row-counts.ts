import type { RowCounts } from '../../core/row-counts.js';

let counts = new Map<number, number>();

/** Counts a run that rows share: texts of a batch, images, steps of several generations. */
export function countRows(rows: number): void {
  counts.set(rows, (counts.get(rows) ?? 0) + 1);
}

/** The counts of this process since they were last taken. */
export function takeRowCounts(): RowCounts {
  const taken = [...counts];
  counts = new Map();
  return taken;
}
