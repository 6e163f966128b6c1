import type { RequestHandler } from 'express';
import { RunError } from '../core/errors.js';
import { readBearerKey, keysMatch } from '../wire/key.js';

/** Requires the key on each call. */
export function authorize(key: string): RequestHandler {
  return (request, _response, next) => {
    if (!keysMatch(readBearerKey(request.headers.authorization), key))
      throw new RunError('unauthorized', 'Unauthorized');
    next();
  };
}
