import type { RequestHandler } from 'express';
import { RunError } from '../../runtime/core/errors.js';
import { keyOf } from '../../runtime/wire/key.js';
import { releaseOnClose } from '../../runtime/wire/lifetime.js';
import { hashKey, type Keys } from '../keys/key-store.js';
import type { StoredKey } from '../keys/key-file.js';
import type { CallReservation } from '../limits/limits.js';
import { callContext } from './call-context.js';

/** Created once: capturing a stack trace for each would be most of the cost of a refusal. */
const UNAUTHORIZED = new RunError('unauthorized', 'Unauthorized');

/**
 * Requires a known key in one of the three header forms, and counts the call against its limits.
 * @param enter counts one call of a key, or throws
 */
export function requireKey(keys: Keys, enter: (key: StoredKey) => Promise<CallReservation>): RequestHandler {
  return async (request, response, next) => {
    // After the connection has ended, its address is not known any more.
    const call = callContext(response);
    call.address = request.socket.remoteAddress;
    const secret = keyOf(request.headers);
    const key = keys.find(secret);
    if (!key) {
      if (secret !== '') call.refusedKey = hashKey(secret).slice(0, 12);
      throw UNAUTHORIZED;
    }
    call.key = key;
    const { limit, remaining, release } = await enter(key);
    // The caller may have left while Redis was asked.
    releaseOnClose(response, release);
    response.setHeader('X-RateLimit-Limit', limit);
    response.setHeader('X-RateLimit-Remaining', remaining);
    next();
  };
}
