/** A stretch of tokens, both ends included, and the probability that it is the answer. */
export interface AnswerSpan {
  from: number;
  to: number;
  score: number;
}

/** Softmax over the tokens that may be in an answer, in single precision. */
export function spanProbabilities(logits: Float32Array, allowed: readonly boolean[]): Float32Array {
  const masked = logits.map((logit, i) => (allowed[i] ? logit : -10_000));
  const max = masked.reduce((a, b) => Math.max(a, b), -Infinity);
  const scores = masked.map((logit) => Math.exp(logit - max));
  const sum = scores.reduce((a, b) => a + b, 0);
  return scores.map((score) => score / sum);
}

export interface SpanSearch {
  start: Float32Array;
  end: Float32Array;
  /** Tokens that may be in an answer; the first one always may, but scores nothing. */
  allowed: readonly boolean[];
  /** Spans to look at; those that may not be an answer count. */
  count: number;
  /** Tokens of the longest answer. */
  longest: number;
}

/** The best spans (decode_spans): sorted by score, of equals the earlier one first, then without the forbidden ones. */
export function bestSpans({ start, end, allowed, count, longest }: SpanSearch): AnswerSpan[] {
  const [first, last] = [Float32Array.from(start), Float32Array.from(end)];
  first[0] = last[0] = 0;
  const top: AnswerSpan[] = [];
  let least = -1;
  for (let from = 0; from < first.length; from++) {
    const stop = Math.min(last.length, from + longest);
    for (let to = from; to < stop; to++) {
      const score = Math.fround(first[from]! * last[to]!);
      if (!(score > least)) continue;
      top.push({ from, to, score });
      if (top.length < 2 * count + 64) continue;
      keepBest(top, count);
      least = top[count - 1]!.score;
    }
  }
  keepBest(top, count);
  const may = (token: number) => token === 0 || allowed[token]!;
  return top.filter(({ from, to }) => may(from) && may(to));
}

function keepBest(spans: AnswerSpan[], count: number): void {
  spans.sort((a, b) => b.score - a.score);
  if (spans.length > count) spans.length = count;
}
