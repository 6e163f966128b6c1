import type { RequestHandler } from 'express';
import { RunError } from '../core/errors.js';
import { keyOf, keysMatch } from '../wire/key.js';

/** Requires the key on each call. */
export function authorize(key: string): RequestHandler {
  return (request, _response, next) => {
    if (!keysMatch(keyOf(request.headers), key)) throw new RunError('unauthorized', 'Unauthorized');
    next();
  };
}
