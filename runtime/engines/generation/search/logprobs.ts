import type { LikelyToken, TokenLogprob } from '../../../core/handles/index.js';
import type { TextTokenizer } from '../../tokenizers/tokenizer.js';
import { logSumExp } from './log-softmax.js';

/** Tells how likely the model itself held a token: the log-softmax of its scores before any processor changes them. */
export type LogprobReader = (id: number) => TokenLogprob;

/**
 * Reads one row of scores, which may change afterwards.
 * @param count how many of the likeliest tokens to tell beside the chosen one
 */
export function readLogprobs(tokenizer: TextTokenizer, scores: Float32Array, count: number): LogprobReader {
  const { likely, best } = likelyTokens(tokenizer, scores.slice());
  return (id) => ({ ...likely(id), top_logprobs: best(count) });
}

/** Tokens with their probabilities by one row of scores, which stays as it is meanwhile. */
export function likelyTokens(tokenizer: TextTokenizer, scores: Float32Array) {
  const shift = logSumExp(scores);
  const likely = (id: number): LikelyToken => ({
    ...tokenText(tokenizer, id),
    logprob: scores[id]! - shift,
  });
  return { likely, best: (count: number) => bestIds(scores, count).map(likely) };
}

/** What a token is. */
export function tokenText(tokenizer: TextTokenizer, id: number): Omit<LikelyToken, 'logprob'> {
  const bytes = tokenizer.bytesOf(id);
  const token = new TextDecoder().decode(Uint8Array.from(bytes));
  return { token, bytes, id, ...(tokenizer.specialText(id) === undefined ? {} : { special: true }) };
}

/** Ids of the highest scores, best first. */
function bestIds(scores: Float32Array, count: number): number[] {
  const ids: number[] = [];
  for (let id = 0; id < scores.length; id++) {
    if (ids.length === count && !(count > 0 && scores[id]! > scores[ids[count - 1]!]!)) continue;
    let at = ids.length;
    while (at > 0 && scores[ids[at - 1]!]! < scores[id]!) at--;
    ids.splice(at, 0, id);
    if (ids.length > count) ids.pop();
  }
  return ids;
}
