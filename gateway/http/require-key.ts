import type { RequestHandler } from 'express';
import { RunError } from '../../runtime/core/errors.js';
import { readBearerKey } from '../../runtime/wire/key.js';
import { releaseOnClose } from '../../runtime/wire/lifetime.js';
import { hashKey, type Keys } from '../keys/key-store.js';
import type { RateLimits } from '../limits/limits.js';
import { callContext } from './call-context.js';

/** Made once: a stack for each would be most of what a refusal costs. */
const UNAUTHORIZED = new RunError('unauthorized', 'Unauthorized');

/** Demands a key that was given out, in whichever of the three forms, and counts the call. */
export function requireKey(keys: Keys, limits: RateLimits): RequestHandler {
  return async (request, response, next) => {
    // Once the connection has ended, its address is not known any more.
    const call = callContext(response);
    call.address = request.socket.remoteAddress;
    const secret = readBearerKey(request.headers.authorization);
    const key = keys.find(secret);
    if (!key) {
      if (secret !== '') call.refusedKey = hashKey(secret).slice(0, 12);
      throw UNAUTHORIZED;
    }
    call.key = key;
    const { limit: most, remaining, release: leave } = await limits.enter(key.id);
    // Redis may have been asked: the caller need not be there any more.
    releaseOnClose(response, leave);
    response.setHeader('X-RateLimit-Limit', most);
    response.setHeader('X-RateLimit-Remaining', remaining);
    next();
  };
}
