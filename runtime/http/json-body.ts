import express, { type ErrorRequestHandler, type Request, type RequestHandler } from 'express';
import { RunError } from '../core/errors.js';
import type { ByteBudget } from './byte-budget.js';

export interface JsonBodyOptions {
  /** Longest body, after decompression (MAX_BODY_BYTES). */
  maxBytes: number;
  budget: ByteBudget;
}

/** Reads a JSON body. No content type counts as JSON; any other is a 415. */
export function jsonBody({ maxBytes, budget }: JsonBodyOptions): (RequestHandler | ErrorRequestHandler)[] {
  const parse = express.json({ limit: maxBytes, type: () => true, strict: false });
  const checkType: RequestHandler = (request, _response, next) => {
    const type = request.headers['content-type'];
    if (type === undefined || /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type.trim())) return next();
    throw new RunError('unsupported_media', 'the content type must be application/json');
  };
  const reserve: RequestHandler = (request, response, next) => {
    budget.open(response)(Math.min(announcedBytes(request), maxBytes));
    next();
  };
  const explain: ErrorRequestHandler = (error, _request, _response, next) => next(bodyError(error, maxBytes));
  return [checkType, reserve, parse, explain];
}

/** Infinity where only reading the body will tell: sent in chunks, or compressed. */
function announcedBytes({ headers }: Request): number {
  const length = headers['content-encoding'] === undefined ? headers['content-length'] : undefined;
  if (length !== undefined) return Number(length);
  return headers['transfer-encoding'] === undefined && headers['content-encoding'] === undefined
    ? 0
    : Infinity;
}

/** The body parser's errors in our words. */
function bodyError(error: unknown, maxBytes: number): unknown {
  if (error instanceof RunError) return error;
  const type = String((error as { type?: unknown }).type);
  if (type === 'entity.too.large') {
    return new RunError('payload_too_large', `the body is larger than ${maxBytes} bytes (MAX_BODY_BYTES)`);
  }
  if (type === 'entity.parse.failed') return new RunError('invalid_input', 'the body is not valid JSON');
  if (type === 'request.aborted') return new RunError('cancelled', 'the caller went away');
  if (type.startsWith('encoding.') || type.startsWith('charset.')) {
    return new RunError(
      'unsupported_media',
      'the body must be UTF-8, plain or compressed with gzip, deflate or br',
    );
  }
  return new RunError('invalid_input', "the body can't be read", { cause: error });
}
