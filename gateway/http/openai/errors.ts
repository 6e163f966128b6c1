import type { Response } from 'express';
import { exceededContext } from '../../../runtime/core/context-length.js';
import { RunError } from '../../../runtime/core/errors.js';
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

/** Statuses whose messages begin with the name of the invalid field. */
const FIELD_STATUSES: ReadonlySet<number> = new Set([400, 404, 422]);
const FIELD = /^(?:params\.)?(\w+(?:\.\w+)*): /;

/** Names of fields in containers -> those that the caller has sent. */
export type FieldNames = Readonly<Record<string, string>>;

/** The error of a task or a container about a field, with the name that the caller has sent. */
export function inCallersWords(thrown: unknown, names: FieldNames): unknown {
  if (!(thrown instanceof RunError) || !FIELD_STATUSES.has(thrown.status)) return thrown;
  const match = FIELD.exec(thrown.message);
  const name = match && Object.hasOwn(names, match[1]!) ? names[match[1]!] : undefined;
  if (name === undefined) return thrown;
  return new RunError(thrown.code, `${name}: ${thrown.message.slice(match![0].length)}`, {
    cause: thrown.cause,
  });
}

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
  const match = FIELD_STATUSES.has(error.status) ? FIELD.exec(error.message) : null;
  const param = match?.[1] ?? null;
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
  const body = openAiError(error, textFieldOf(response.req.originalUrl));
  // As OpenAI does: clients shorten the prompt at a 400 with this code.
  const status = body.code === 'context_length_exceeded' ? 400 : error.status;
  sendJson(response, status, JSON.stringify({ error: body }));
}

function textFieldOf(url: string): string {
  if (url.includes('/embeddings')) return 'input';
  return url.includes('/chat/') ? 'messages' : 'prompt';
}
