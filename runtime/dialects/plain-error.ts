import type { Response } from 'express';
import { exceededContext } from '../core/context-length.js';
import type { RunError } from '../core/errors.js';
import { sendJson, setRetryAfter } from '../wire/respond.js';

/** Error types of Text Generation Inference and Text Embeddings Inference. */
const TYPES: Readonly<Record<string, string>> = {
  invalid_input: 'validation',
  unprocessable: 'validation',
  unsupported_media: 'validation',
  payload_too_large: 'validation',
  rate_limited: 'overloaded',
  overloaded: 'overloaded',
  stopping: 'overloaded',
  not_ready: 'unhealthy',
};

/** Errors as `{"error": text, "error_type": kind}`, the shape of Hugging Face's servers. */
export function sendPlainError(response: Response, error: RunError): void {
  setRetryAfter(response, error);
  const kind = exceededContext(error) === undefined ? TYPES[error.code] : 'validation';
  const body = { error: error.message, error_type: kind ?? 'backend' };
  sendJson(response, error.status, JSON.stringify(body));
}

/** Errors with one text under the names that clients of several servers read. */
export function sendMessageError(response: Response, error: RunError): void {
  setRetryAfter(response, error);
  const { message } = error;
  const body = { message, detail: message, error: message, error_type: TYPES[error.code] ?? 'backend' };
  sendJson(response, error.status, JSON.stringify(body));
}
