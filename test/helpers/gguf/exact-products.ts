import type { Storage } from '../../../runtime/models/writer/storage.js';

/** Products of blocks whose inputs are not rounded, which takes ninety times as long. */
export const exactProducts = (storage: Storage): Storage => ({
  ...storage,
  pack(tensor, use) {
    const place = storage.pack(tensor, use);
    return place && { ...place, isRepacked: true };
  },
});

/** The largest one, as a part of the largest number. */
export function largestDifference(found: Float32Array, wanted: Float32Array): number {
  expect(found).toHaveLength(wanted.length);
  const most = wanted.reduce((max, value) => Math.max(max, Math.abs(value)), 1e-9);
  return wanted.reduce((max, value, i) => Math.max(max, Math.abs(value - found[i]!)), 0) / most;
}
