import type { Response } from 'express';
import type { RunError } from '../../../runtime/core/errors.js';
import { sendJson, setRetryAfter } from '../../../runtime/wire/respond.js';

/** OpenAI's own shape of an error. */
export interface OpenAiError {
  message: string;
  type: 'invalid_request_error' | 'rate_limit_error' | 'server_error';
  /** The field that is wrong, where one is. */
  param: string | null;
  code: string | null;
}

const CODES: Partial<Record<RunError['code'], string>> = {
  unauthorized: 'invalid_api_key',
  rate_limited: 'rate_limit_exceeded',
};

/** What a container calls a parameter that OpenAI's interface calls otherwise. */
const NAMES = new Map([
  ['num_return_sequences', 'n'],
  ['max_new_tokens', 'max_tokens'],
]);

/** Statuses of errors whose messages begin with the field that they are about. */
const NAMING: ReadonlySet<number> = new Set([400, 404, 422]);
const FIELD = /^(?:params\.)?(\w+(?:\.\w+)*): /;

/** @param textField what the endpoint calls the text that the model reads */
export function openAiError(error: RunError, textField = 'prompt'): OpenAiError {
  const found = NAMING.has(error.status) ? FIELD.exec(error.message) : null;
  const field = found?.[1] ?? null;
  const param = field === 'text' ? textField : field && (NAMES.get(field) ?? field);
  const message = found ? `${param}: ${error.message.slice(found[0].length)}` : error.message;
  const code = error.status === 404 && param === 'model' ? 'model_not_found' : (CODES[error.code] ?? null);
  return { message, type: typeOf(error.status), param, code };
}

function typeOf(status: number): OpenAiError['type'] {
  if (status >= 500) return 'server_error';
  return status === 429 ? 'rate_limit_error' : 'invalid_request_error';
}

/** Answers an error, as `sendError` does for everybody else. */
export function sendOpenAiError(response: Response, error: RunError): void {
  setRetryAfter(response, error);
  const textField = response.req.originalUrl.includes('/embeddings') ? 'input' : 'prompt';
  sendJson(response, error.status, JSON.stringify({ error: openAiError(error, textField) }));
}
