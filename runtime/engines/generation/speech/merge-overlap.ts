/**
 * Joins what was heard in windows that overlap (transformers' _find_longest_common_sequence of Whisper): each seam is where
 * most tokens agree, the left window counts before its middle, the right one after.
 */
export function mergeOverlaps(sequences: readonly (readonly number[])[]): number[] {
  const [first = [], ...others] = sequences;
  const total: number[] = [];
  let left = first;
  for (const right of others) {
    const { leftMiddle, rightMiddle } = bestSeam(left, right);
    total.push(...left.slice(0, leftMiddle));
    left = right.slice(rightMiddle);
  }
  return [...total, ...left];
}

/** Favours long matches over short ones that are as good. */
const EPSILON = 1 / 10_000;

function bestSeam(
  left: readonly number[],
  right: readonly number[],
): { leftMiddle: number; rightMiddle: number } {
  let best = { score: 0, leftMiddle: left.length, rightMiddle: 0 };
  for (let shift = 1; shift < left.length + right.length; shift++) {
    const leftStart = Math.max(0, left.length - shift);
    const leftStop = Math.min(left.length, left.length + right.length - shift);
    const rightStart = Math.max(0, shift - left.length);
    const rightStop = Math.min(right.length, shift);
    let matches = 0;
    for (let i = 0; i < leftStop - leftStart; i++) {
      if (left[leftStart + i] === right[rightStart + i]) matches++;
    }
    const score = matches / shift + shift * EPSILON;
    if (matches <= 1 || score <= best.score) continue;
    best = {
      score,
      leftMiddle: Math.floor((leftStart + leftStop) / 2),
      rightMiddle: Math.floor((rightStart + rightStop) / 2),
    };
  }
  return best;
}
