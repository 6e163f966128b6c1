import type { LikelyToken, PromptToken, TokenLogprob } from '../../core/handles/index.js';

/** A token of a prompt, or one that was written after it. */
export type ScoredToken = PromptToken | TokenLogprob;

/** What stands for a probability of 0, whose logarithm is no number in JSON. */
const LOWEST = -9999;

interface ColumnOptions {
  /** The text that the tokens make. */
  text: string;
  /** How many of the likeliest tokens beside each. */
  count: number;
}

/**
 * Probabilities by column, as this endpoint has them. Offsets count code points of the text. The first token of a prompt has
 * no probability.
 */
export function columns(rows: readonly ScoredToken[], { text, count }: ColumnOptions): object {
  const isUnscored = (row: ScoredToken, i: number) => i === 0 && 'rank' in row;
  return {
    tokens: rows.map(({ token }) => token),
    token_logprobs: rows.map((row, i) => (isUnscored(row, i) ? null : (row.logprob ?? LOWEST))),
    top_logprobs: rows.map((row, i) => (isUnscored(row, i) ? null : likeliest(row, count))),
    text_offset: offsets(rows, text),
  };
}

/** The likeliest tokens and the one that is there. Of several tokens with one text the likeliest counts. */
function likeliest(row: ScoredToken, count: number): Record<string, number> {
  const found = new Map<string, number>();
  for (const { token, logprob } of [...row.top_logprobs.slice(0, count), row])
    if (!found.has(token)) found.set(token, logprob ?? LOWEST);
  return Object.fromEntries(found);
}

/** Where each token begins. Special tokens that the text is told without have no width, nor has a blank before its first word. */
function offsets(rows: readonly ScoredToken[], text: string): number[] {
  const points = Array.from(text);
  let at = 0;
  return rows.map(({ token, special }) => {
    const own = Array.from(token);
    const start = at;
    const isThere = own.every((point, i) => points[at + i] === point);
    const isBlank = !isThere && at === 0 && own[0] === ' ';
    if (isThere || !special) at += own.length - (isBlank ? 1 : 0);
    return start;
  });
}

/** vLLM's `prompt_logprobs`: for each token those that might have stood there, by their ids. */
export function byTokenId(rows: readonly PromptToken[]): (object | null)[] {
  const entry = ({ id, token, logprob }: LikelyToken | PromptToken, rank: number | null) =>
    [id, { logprob: logprob ?? LOWEST, rank, decoded_token: token }] as const;
  return rows.map((row, i) =>
    i === 0
      ? null
      : Object.fromEntries([
          entry(row, row.rank),
          ...row.top_logprobs.map((likely, place) => entry(likely, place + 1)),
        ]),
  );
}
