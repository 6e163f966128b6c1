import type { Response } from 'express';
import { type EncodedJson, encodedJson, isEncodedJson } from '../core/encoded-json.js';
import { dataUrlOf, type MediaOutput } from '../core/media-output.js';
import { fromWireError, RunError, toWireError } from '../core/errors.js';

/** With the charset, because an official client does not recognize errors of plain `application/json`. */
export const JSON_TYPE = 'application/json; charset=utf-8';

export interface Envelope {
  error: string | null;
  output: unknown;
}

/** The shape of all JSON answers; always with both keys. */
export function envelope({ error, output }: Envelope): string {
  return JSON.stringify({ error, output: output ?? null });
}

export function sendEnvelope(response: Response, status: number, content: Envelope): void {
  if (isEncodedJson(content.output)) return sendEncoded(response, status, content.output);
  sendJson(response, status, envelope(content));
}

/** Sends an output that is encoded already, in the envelope, without copying it. */
function sendEncoded(response: Response, status: number, { encodedJson }: EncodedJson): void {
  const pieces = [Buffer.from('{"error":null,"output":'), ...encodedJson, Buffer.from('}')];
  response.statusCode = status;
  response.setHeader('Content-Type', JSON_TYPE);
  response.setHeader(
    'Content-Length',
    pieces.reduce((sum, { length }) => sum + length, 0),
  );
  for (const piece of pieces) response.write(piece);
  response.end();
}

/** Sends a medium as a data URL in the envelope, or with `raw` as it is. */
export function sendMedia(response: Response, output: MediaOutput, { raw }: { raw: boolean }): void {
  if (!raw) {
    return sendEncoded(response, 200, encodedJson([`"${dataUrlOf(output)}"`]));
  }
  const { mediaType, media } = output;
  response.statusCode = 200;
  response.setHeader('Content-Type', mediaType);
  response.setHeader('Content-Length', media.length);
  response.end(media);
}

/** @param text JSON */
export function sendJson(response: Response, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', JSON_TYPE);
  response.end(text);
}

/** Converts any error to one that the caller may see. */
export function asRunError(error: unknown): RunError {
  return error instanceof RunError ? error : fromWireError(toWireError(error));
}

/** Header of a refusal by a server that stops and has not begun with the request; a gateway asks another server then. */
export const NOT_BEGUN = { name: 'x-slipway-not-begun', value: 'stopping' } as const;

/** Sets Retry-After in whole seconds. */
export function setRetryAfter(response: Response, { retryAfter }: RunError): void {
  if (retryAfter !== undefined) response.setHeader('Retry-After', String(Math.ceil(retryAfter)));
}

export function sendError(response: Response, error: RunError, requestId: string): void {
  setRetryAfter(response, error);
  if (error.code === 'stopping') response.setHeader(NOT_BEGUN.name, NOT_BEGUN.value);
  const hint = error.code === 'engine_failed' ? ` (request ${requestId})` : '';
  sendEnvelope(response, error.status, { error: error.message + hint, output: null });
}
