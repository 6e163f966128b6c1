import type { Response } from 'express';
import { type Usage, USAGE_HEADERS } from '../core/usage.js';

/** Sets the usage headers of a JSON answer. */
export function setUsageHeaders(
  response: Response,
  { tokensIn, tokensOut, reasoningTokens, finish, stops }: Usage,
): void {
  response.setHeader(USAGE_HEADERS.tokensIn, String(tokensIn));
  if (tokensOut !== undefined) response.setHeader(USAGE_HEADERS.tokensOut, String(tokensOut));
  if (reasoningTokens !== undefined)
    response.setHeader(USAGE_HEADERS.reasoningTokens, String(reasoningTokens));
  if (finish) response.setHeader(USAGE_HEADERS.finish, finish.join(', '));
  if (stops) response.setHeader(USAGE_HEADERS.stops, stops.map((stop) => stop ?? '-').join(', '));
}

/** The usage for the final event of a stream, which has one answer. */
export function usageEvent({
  tokensIn,
  tokensOut,
  reasoningTokens,
  finish,
  stops,
}: Usage): Record<string, unknown> {
  return {
    tokens_in: tokensIn,
    tokens_out: tokensOut,
    reasoning_tokens: reasoningTokens,
    finish_reason: finish?.[0],
    stop_index: stops?.[0] ?? undefined,
  };
}
