import type { Response } from 'express';
import { type Usage, USAGE_HEADERS } from '../core/usage.js';

/** The headers of a JSON answer that tell its usage. */
export function usageHeaders({
  tokensIn,
  tokensOut,
  reasoningTokens,
  finish,
  stops,
}: Usage): Record<string, string> {
  return {
    [USAGE_HEADERS.tokensIn]: String(tokensIn),
    ...(tokensOut === undefined ? {} : { [USAGE_HEADERS.tokensOut]: String(tokensOut) }),
    ...(reasoningTokens === undefined ? {} : { [USAGE_HEADERS.reasoningTokens]: String(reasoningTokens) }),
    ...(finish ? { [USAGE_HEADERS.finish]: finish.join(', ') } : {}),
    ...(stops ? { [USAGE_HEADERS.stops]: stops.map((stop) => stop ?? '-').join(', ') } : {}),
  };
}

/** Sets the usage headers of a JSON answer. */
export function setUsageHeaders(response: Response, usage: Usage): void {
  for (const [name, value] of Object.entries(usageHeaders(usage))) response.setHeader(name, value);
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
