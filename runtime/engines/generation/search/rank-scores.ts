/** Ids by falling score, equal ones in their order. Sorts numbers, which takes a tenth of the time of a comparison. */
export function sortByScore(scores: Float32Array, ids: readonly number[]): number[] {
  const keys = Float64Array.from(ids, (id, at) => orderOf(scores[id]!) * 2 ** 21 + at);
  return Array.from(keys.sort(), (key) => ids[key % 2 ** 21]!);
}

const FLOAT = new Float32Array(1);
const BITS = new Uint32Array(FLOAT.buffer);

/** A whole number below 2^32 that grows as the score falls. */
function orderOf(score: number): number {
  FLOAT[0] = score === 0 ? 0 : score;
  const bits = BITS[0]!;
  return bits >= 2 ** 31 ? bits : 2 ** 31 - 1 - bits;
}

/** The k-th highest score, found in a heap of k. */
export function kthLargest(scores: Float32Array, k: number): number {
  if (k > scores.length / 16) return Float32Array.from(scores).sort()[scores.length - k]!;
  const heap = scores.slice(0, k).sort();
  for (let i = k; i < scores.length; i++) {
    if (scores[i]! > heap[0]!) sinkRoot(heap, scores[i]!);
  }
  return heap[0]!;
}

/** Replaces the smallest value of a heap. */
function sinkRoot(heap: Float32Array, value: number): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++;
    if (child >= heap.length || heap[child]! >= value) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = value;
}
