import type { TokenLogprob } from '../../core/handles/index.js';
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

/** An answer with TGI's `details`. Probabilities were asked for; ids of tokens are not known. */
export function withDetails(shaped: unknown, { output, usage }: ModelAnswer): unknown {
  const { logprobs } = Object(output) as { logprobs?: { content: TokenLogprob[] } };
  const tokens = logprobs?.content.map((row) => ({ ...token(row.token), logprob: row.logprob })) ?? [];
  const details = {
    finish_reason: finishOf(usage),
    generated_tokens: usage?.tokensOut ?? tokens.length,
    ...{ seed: null, prefill: [], tokens },
  };
  return [shaped].flat().map((row) => ({ ...(row as object), details }));
}
