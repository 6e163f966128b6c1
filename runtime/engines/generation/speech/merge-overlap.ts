/** Tokens that were transcribed in one window, and when, where times of words are asked for. */
export interface TranscribedRun {
  tokens: readonly number[];
  /** As many as tokens, or none. */
  spans: readonly Span[];
}

/** Seconds from the token before to a token. */
export interface Span {
  start: number;
  end: number;
}

/**
 * Joins what was transcribed in windows that overlap (transformers' _find_longest_common_sequence of Whisper): each seam is where
 * most tokens agree, the left window counts before its middle, the right one after. Tokens with times agree only where those of the
 * right window are not earlier.
 */
export function mergeOverlaps(runs: readonly TranscribedRun[]): TranscribedRun {
  const [first = { tokens: [], spans: [] }, ...others] = runs;
  const tokens: number[] = [];
  const spans: Span[] = [];
  let left = first;
  for (const right of others) {
    const { leftMiddle, rightMiddle } = bestSeam(left, right);
    tokens.push(...left.tokens.slice(0, leftMiddle));
    spans.push(...left.spans.slice(0, leftMiddle));
    left = { tokens: right.tokens.slice(rightMiddle), spans: right.spans.slice(rightMiddle) };
  }
  return { tokens: [...tokens, ...left.tokens], spans: [...spans, ...left.spans] };
}

/** Favours long matches over short ones that are as good. */
const EPSILON = 1 / 10_000;

function bestSeam(left: TranscribedRun, right: TranscribedRun): { leftMiddle: number; rightMiddle: number } {
  const [leftLength, rightLength] = [left.tokens.length, right.tokens.length];
  let best = { score: 0, leftMiddle: leftLength, rightMiddle: 0 };
  for (let shift = 1; shift < leftLength + rightLength; shift++) {
    const leftStart = Math.max(0, leftLength - shift);
    const leftStop = Math.min(leftLength, leftLength + rightLength - shift);
    const rightStart = Math.max(0, shift - leftLength);
    const rightStop = Math.min(rightLength, shift);
    let matches = 0;
    for (let i = 0; i < leftStop - leftStart; i++) {
      if (left.tokens[leftStart + i] !== right.tokens[rightStart + i]) continue;
      if (isInOrder(left.spans[leftStart + i], right.spans[rightStart + i])) matches++;
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

/** True without times. */
function isInOrder(left: Span | undefined, right: Span | undefined): boolean {
  if (!left || !right) return true;
  return left.start < right.start || (left.start === right.start && left.end <= right.end);
}
