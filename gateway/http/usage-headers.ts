import type { IncomingHttpHeaders } from 'node:http';
import { type FinishReason, type Usage, USAGE_HEADERS } from '../../runtime/core/usage.js';

/** Usage of a JSON answer from the container's headers; undefined when the model does not count tokens. */
export function readUsageHeaders(headers: IncomingHttpHeaders): Usage | undefined {
  const tokensIn = numberIn(headers[USAGE_HEADERS.tokensIn]);
  if (tokensIn === undefined) return undefined;
  const tokensOut = numberIn(headers[USAGE_HEADERS.tokensOut]);
  const reasoningTokens = numberIn(headers[USAGE_HEADERS.reasoningTokens]);
  const finish = headers[USAGE_HEADERS.finish];
  const stops = headers[USAGE_HEADERS.stops];
  return {
    tokensIn,
    ...(tokensOut === undefined ? {} : { tokensOut }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(typeof stops === 'string' ? { stops: stops.split(', ').map((stop) => numberIn(stop) ?? null) } : {}),
    ...(typeof finish === 'string' ? { finish: finish.split(', ') as FinishReason[] } : {}),
  };
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
