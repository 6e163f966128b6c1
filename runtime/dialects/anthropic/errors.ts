import type { Response } from 'express';
import type { RunError } from '../../core/errors.js';
import { sendJson, setRetryAfter } from '../../wire/respond.js';

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** Anthropic's own status of a server that has too much to do. */
const OVERLOADED = 529;

export function anthropicError({ status, message }: RunError): { type: string; message: string } {
  return { type: TYPES[status] ?? 'invalid_request_error', message };
}

/** The counterpart of `sendError` for Anthropic's routes. */
export function sendAnthropicError(response: Response, error: RunError, requestId: string): void {
  setRetryAfter(response, error);
  const body = { type: 'error', error: anthropicError(error), request_id: requestId };
  // Its clients know no 415 and 422.
  const status = error.status === 503 ? OVERLOADED : [415, 422].includes(error.status) ? 400 : error.status;
  sendJson(response, status, JSON.stringify(body));
}
