import type { LogitsProcessor } from '../search/logits-processor.js';

export interface TimestampRules {
  /** `<|notimestamps|>`; the token after it is the time 0. */
  noTimestamps: number;
  /** The token that ends a text; text tokens come before it. */
  end: number;
  /** Tokens of the prompt. */
  promptLength: number;
  /** Latest time that a text may begin with, in steps; undefined: any. */
  latestStart: number | undefined;
}

/**
 * Times come in pairs around text, never go back, and take precedence where together they are likelier than any word
 * (transformers' WhisperTimeStampLogitsProcessor).
 */
export function timestampRules(rules: TimestampRules): LogitsProcessor {
  const begin = rules.noTimestamps + 1;
  return (scores, ids) => {
    scores[rules.noTimestamps] = -Infinity;
    keepPairs(scores, ids, rules);
    if (ids.length === rules.promptLength) {
      scores.fill(-Infinity, 0, begin);
      if (rules.latestStart !== undefined) scores.fill(-Infinity, begin + rules.latestStart + 1);
    }
    if (timesAreLikelier(scores, begin)) scores.fill(-Infinity, 0, begin);
  };
}

function keepPairs(
  scores: Float32Array,
  ids: ArrayLike<number>,
  { noTimestamps, end, promptLength }: TimestampRules,
): void {
  const begin = noTimestamps + 1;
  const made = ids.length - promptLength;
  const isTime = (fromEnd: number) => ids[ids.length - fromEnd]! >= begin;
  const [last, secondLast] = [made >= 1 && isTime(1), made < 2 || isTime(2)];
  if (last && secondLast) scores.fill(-Infinity, begin);
  else if (last) scores.fill(-Infinity, 0, end);
  for (let i = ids.length - 1; i >= promptLength; i--) {
    const time = ids[i]!;
    if (time < begin) continue;
    scores.fill(-Infinity, begin, last && !secondLast ? time : time + 1);
    return;
  }
}

function timesAreLikelier(scores: Float32Array, begin: number): boolean {
  let [word, time] = [-Infinity, -Infinity];
  for (let i = 0; i < begin; i++) word = Math.max(word, scores[i]!);
  for (let i = begin; i < scores.length; i++) time = Math.max(time, scores[i]!);
  if (time === -Infinity) return false;
  let sum = 0;
  for (let i = begin; i < scores.length; i++) sum += Math.exp(scores[i]! - time);
  return time + Math.log(sum) > word;
}
