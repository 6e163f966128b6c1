import type { Response } from 'express';
import { exceededContext } from '../../core/context-length.js';
import type { RunError } from '../../core/errors.js';
import { sendJson, setRetryAfter } from '../../wire/respond.js';
import { fieldOf } from '../field-names.js';

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

/** @param textField name of the endpoint's text field */
export function openAiError(error: RunError, textField = 'prompt'): OpenAiError {
  const context = exceededContext(error);
  if (context !== undefined) {
    const message = `this model's maximum context length is ${context} tokens: ${error.message}`;
    return {
      ...{ message, type: 'invalid_request_error' },
      ...{ param: textField, code: 'context_length_exceeded' },
    };
  }
  const found = fieldOf(error);
  const param = found?.field ?? null;
  const message = found ? `${param}: ${found.rest}` : error.message;
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
  const body = openAiError(error, textFieldOf(response.req.originalUrl));
  // As OpenAI does: clients shorten the prompt at a 400 with this code.
  const status = body.code === 'context_length_exceeded' ? 400 : error.status;
  sendJson(response, status, JSON.stringify({ error: body }));
}

function textFieldOf(url: string): string {
  if (url.includes('/embeddings')) return 'input';
  return url.includes('/chat/') ? 'messages' : 'prompt';
}
