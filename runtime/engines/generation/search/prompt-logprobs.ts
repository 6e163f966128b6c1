import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PromptToken } from '../../../core/handles/index.js';
import { requireLogits } from '../../../core/not-finite.js';
import type { TextTokenizer } from '../../tokenizers/tokenizer.js';
import type { PromptScores } from '../decoding/decoder.js';
import { likelyTokens, tokenText } from './logprobs.js';

/** Reads how likely the model held each token of a prompt, after those before it. */
export interface PromptReader {
  /** Given scores of the prompt, in order. */
  take: PromptScores;
  /** One for each token; complete once all scores were taken. */
  readonly content: PromptToken[];
}

export interface PromptReading {
  tokenizer: TextTokenizer;
  tokens: readonly number[];
  /** How many of the likeliest tokens to tell beside each. */
  count: number;
  signal: AbortSignal;
}

/** Milliseconds that other work waits at most: a row of a large vocabulary takes two. */
const TURN_MS = 10;

export function createPromptReader({ tokenizer, tokens, count, signal }: PromptReading): PromptReader {
  const [first] = tokens;
  const nothing = { logprob: null, rank: null, top_logprobs: [] };
  const content: PromptToken[] = first === undefined ? [] : [{ ...tokenText(tokenizer, first), ...nothing }];
  const read = (scores: Float32Array, id: number): PromptToken => {
    const { likely, best } = likelyTokens(tokenizer, requireLogits(scores));
    return { ...likely(id), rank: rankOf(scores, id), top_logprobs: best(count) };
  };
  return {
    content,
    async take(rows, from) {
      let pause = Date.now() + TURN_MS;
      for (const [i, scores] of rows.entries()) {
        const next = tokens[from + i + 1];
        if (next !== undefined) content.push(read(scores, next));
        if (Date.now() < pause) continue;
        await nextTurn();
        signal.throwIfAborted();
        pause = Date.now() + TURN_MS;
      }
    },
  };
}

/** Place of a token among all by falling score, from 1 on. */
function rankOf(scores: Float32Array, id: number): number {
  const own = scores[id]!;
  let rank = 1;
  for (const score of scores) if (score > own) rank++;
  return rank;
}
