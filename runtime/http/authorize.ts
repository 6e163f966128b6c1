import type { RequestHandler } from 'express';
import { RunError } from '../core/errors.js';
import { keyOf, sameKey } from '../wire/key.js';

/** Demands the key on each call. */
export function authorize(key: string): RequestHandler {
  return (request, _response, next) => {
    if (!sameKey(keyOf(request.headers.authorization), key))
      throw new RunError('unauthorized', 'Unauthorized');
    next();
  };
}
