import type { IncomingHttpHeaders } from 'node:http';
import { type FinishReason, type Usage, USAGE_HEADERS } from '../../runtime/core/usage.js';

/** What a container says that its JSON answer came to; nothing where its model doesn't count. */
export function readUsageHeaders(headers: IncomingHttpHeaders): Usage | undefined {
  const tokensIn = numberIn(headers[USAGE_HEADERS.tokensIn]);
  if (tokensIn === undefined) return undefined;
  const tokensOut = numberIn(headers[USAGE_HEADERS.tokensOut]);
  const finish = headers[USAGE_HEADERS.finish];
  return {
    tokensIn,
    ...(tokensOut === undefined ? {} : { tokensOut }),
    ...(typeof finish === 'string' ? { finish: finish.split(', ') as FinishReason[] } : {}),
  };
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

/** Tokens of one call. */
export interface TokenCounts {
  in: number;
  out: number;
}

/** Tokens of several answers together; nothing where one of them was not counted. */
export function sumTokens(all: readonly (Usage | undefined)[]): TokenCounts | undefined {
  const tokens = { in: 0, out: 0 };
  for (const usage of all) {
    if (!usage) return undefined;
    tokens.in += usage.tokensIn;
    tokens.out += usage.tokensOut ?? 0;
  }
  return tokens;
}
