import type { Response } from 'express';
import type { RunError } from '../../../runtime/core/errors.js';
import { sendJson, setRetryAfter } from '../../../runtime/wire/respond.js';

/** OpenAI's own shape of an error. */
export interface OpenAiError {
  message: string;
  type: 'invalid_request_error' | 'rate_limit_error' | 'server_error';
  /** The invalid field, if the error is about one. */
  param: string | null;
  code: string | null;
}

const CODES: Partial<Record<RunError['code'], string>> = {
  unauthorized: 'invalid_api_key',
  rate_limited: 'rate_limit_exceeded',
};

/** Names of parameters in containers -> names in OpenAI's interface. */
const PARAM_NAMES = new Map([
  ['num_return_sequences', 'n'],
  ['max_new_tokens', 'max_tokens'],
]);

/** Statuses whose messages begin with the name of the invalid field. */
const FIELD_STATUSES: ReadonlySet<number> = new Set([400, 404, 422]);
const FIELD = /^(?:params\.)?(\w+(?:\.\w+)*): /;

/** @param textField name of the endpoint's text field */
export function openAiError(error: RunError, textField = 'prompt'): OpenAiError {
  const match = FIELD_STATUSES.has(error.status) ? FIELD.exec(error.message) : null;
  const field = match?.[1] ?? null;
  const param = field === 'text' ? textField : field && (PARAM_NAMES.get(field) ?? field);
  const message = match ? `${param}: ${error.message.slice(match[0].length)}` : error.message;
  const code = error.status === 404 && param === 'model' ? 'model_not_found' : (CODES[error.code] ?? null);
  return { message, type: typeOf(error.status), param, code };
}

function typeOf(status: number): OpenAiError['type'] {
  if (status >= 500) return 'server_error';
  return status === 429 ? 'rate_limit_error' : 'invalid_request_error';
}

/** The counterpart of `sendError` for OpenAI's routes. */
export function sendOpenAiError(response: Response, error: RunError): void {
  setRetryAfter(response, error);
  const textField = response.req.originalUrl.includes('/embeddings') ? 'input' : 'prompt';
  sendJson(response, error.status, JSON.stringify({ error: openAiError(error, textField) }));
}
