import type { Delta } from '../../core/delta.js';
import type { LikelyToken, PromptToken, TokenLogprob } from '../../core/handles/index.js';
import type { Usage } from '../../core/usage.js';
import { writeChunk } from '../../wire/lifetime.js';
import { asRunError } from '../../wire/respond.js';
import { setModelHeaders, sumTokens } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { openEvents, streamEvents } from '../events.js';
import type { AskedModel, ModelAnswer } from '../host.js';

/** Text Generation Inference's names of what ended a text. */
function finishOf(usage: Usage | undefined): string {
  if (usage?.stops?.[0] != null) return 'stop_sequence';
  return usage?.finish?.[0] === 'length' ? 'length' : 'eos_token';
}

/**
 * Streams a text as Text Generation Inference does: an event for each token with `details`, which `stream_tokens` was asked for, else for
 * each piece of text, whose ids and probabilities are null. The last event has the whole text. A token's text is what it makes certain,
 * so that texts add up; special tokens, which are no part of it, have their own.
 */
export async function streamTokens(
  { host, response }: DialectCall,
  asked: AskedModel,
  { body, details }: { body: Record<string, unknown>; details: Details | undefined },
): Promise<void> {
  const pieces = await streamEvents(response, asked, body);
  setModelHeaders(response, asked);
  openEvents(response);
  const rows = new Rows(details);
  let usage: Usage | undefined;
  const send = (row: object, rest: object) => writeChunk(response, event({ ...row, ...rest }));
  try {
    for await (const piece of pieces) {
      if ('usage' in piece) usage = piece.usage;
      else for (const row of rows.add(piece)) await send(row, { generated_text: null, details: null });
    }
  } catch (error) {
    const { message } = asRunError(error);
    await Promise.allSettled([writeChunk(response, event({ error: message, error_type: 'generation' }))]);
    throw error;
  }
  const tokens = sumTokens([usage]);
  if (tokens) host.count(response, tokens);
  const { rows: left, count, text } = rows.end();
  const said = {
    ...{ finish_reason: finishOf(usage), generated_tokens: usage?.tokensOut ?? count, seed: null },
    input_length: usage?.tokensIn ?? null,
  };
  const nothing = { generated_text: null, details: null };
  for (const row of left.slice(0, -1)) await send(row, nothing);
  await send(left.at(-1)!, { generated_text: text, details: said });
  response.end();
}

/** Rows of a stream: each waits for the text that belongs to it, which special tokens at the end may hold back. */
class Rows {
  readonly #details: Details | undefined;
  /** The newest token with text, and special ones after it. */
  #waiting: TokenLogprob[] = [];
  /** Text of the first of them; undefined where none has come. */
  #held: string | undefined;
  #text = '';
  #count = 0;

  constructor(details: Details | undefined) {
    this.#details = details;
  }

  /** @returns rows that are whole now */
  add(piece: Delta): object[] {
    if ('token' in piece) {
      const whole = piece.token.special || this.#waiting.length === 0 ? [] : this.#take();
      this.#waiting.push(piece.token);
      return whole;
    }
    if (!('text' in piece)) return [];
    this.#text += piece.text;
    const whole = this.#details || this.#held === undefined ? [] : this.#take();
    this.#held = (this.#held ?? '') + piece.text;
    return whole;
  }

  /** The rows that are left, at least one. */
  end(): { rows: object[]; count: number; text: string } {
    const rows = this.#take();
    return { rows, count: this.#count, text: this.#text };
  }

  #take(): object[] {
    const [text, tokens] = [this.#held ?? '', this.#waiting];
    this.#held = undefined;
    this.#waiting = [];
    if (tokens.length === 0)
      return [{ index: ++this.#count, token: { id: null, text, logprob: null, special: false } }];
    return tokens.map((token, i) => {
      const own = scoredToken(token);
      const said = i > 0 || (own.special && text === '') ? own.text : text;
      const top = this.#details && this.#details.top > 0 ? token.top_logprobs.map(scoredToken) : undefined;
      return { index: ++this.#count, token: { ...own, text: said }, ...(top && { top_tokens: top }) };
    });
  }
}

const event = (data: object): string => `data:${JSON.stringify(data)}\n\n`;

/** What of TGI's `details` a request wants beside the tokens. */
export interface Details {
  /** The tokens of the prompt. */
  prefill: boolean;
  /** So many of the likeliest tokens beside each. */
  top: number;
}

/** An answer with TGI's `details`, for which probabilities were asked. The token that ends a text is among its tokens. */
export function withDetails(shaped: unknown, { output, usage }: ModelAnswer, { top }: Details): unknown {
  const answers = [output].flat() as Scored[];
  return [shaped].flat().map((row, i) => {
    const { logprobs, prompt_logprobs } = Object(answers[i]) as Scored;
    const rows = [...(logprobs?.content ?? []), ...(logprobs?.end ? [logprobs.end] : [])];
    const prefill = prompt_logprobs?.content.map(({ id, token: text, logprob }) => ({ id, text, logprob }));
    const details = {
      finish_reason: finishOf(usage),
      generated_tokens: usage?.tokensOut ?? rows.length,
      ...{ seed: null, prefill: prefill ?? [], tokens: rows.map(scoredToken) },
      ...(top > 0 ? { top_tokens: rows.map((each) => each.top_logprobs.map(scoredToken)) } : {}),
    };
    return { ...(row as object), details };
  });
}

interface Scored {
  logprobs?: { content: TokenLogprob[]; end?: TokenLogprob };
  prompt_logprobs?: { content: PromptToken[] };
}

/** Images that were built before ids were told have none. */
const scoredToken = ({ id, token: text, logprob, special }: LikelyToken) => ({
  ...{ id: (id as number | undefined) ?? null, text, logprob, special: special ?? false },
});
