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
 * Streams a text as Text Generation Inference does: an event for each piece, the whole text with the last one. Ids and
 * probabilities of the pieces are not known and null: a piece is whole characters, which may be several tokens.
 */
export async function streamTokens(
  { host, response }: DialectCall,
  asked: AskedModel,
  body: Record<string, unknown>,
): Promise<void> {
  const pieces = await streamEvents(response, asked, body);
  setModelHeaders(response, asked);
  openEvents(response);
  let text = '';
  let held: string | undefined;
  let usage: Usage | undefined;
  let index = 0;
  const send = (piece: string, rest: object) =>
    writeChunk(response, event({ index: ++index, token: token(piece), ...rest }));
  try {
    for await (const piece of pieces) {
      if ('usage' in piece) usage = piece.usage;
      if (!('text' in piece)) continue;
      text += piece.text;
      if (held !== undefined) await send(held, { generated_text: null, details: null });
      held = piece.text;
    }
  } catch (error) {
    const { message } = asRunError(error);
    await Promise.allSettled([writeChunk(response, event({ error: message, error_type: 'generation' }))]);
    throw error;
  }
  const tokens = sumTokens([usage]);
  if (tokens) host.count(response, tokens);
  const details = { finish_reason: finishOf(usage), generated_tokens: usage?.tokensOut ?? index, seed: null };
  await send(held ?? '', { generated_text: text, details });
  response.end();
}

const event = (data: object): string => `data:${JSON.stringify(data)}\n\n`;

const token = (text: string) => ({ id: null, text, logprob: null, special: false });

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
