import type { RequestHandler } from 'express';
import { RunError } from '../../runtime/core/errors.js';
import { keyOf } from '../../runtime/wire/key.js';
import type { Keys } from '../keys/key-store.js';
import type { Limits } from '../limits.js';
import { noteCall } from './call.js';

/** Demands a key that was given out, in whichever of the three forms, and counts the call. */
export function authorize(keys: Keys, limits: Limits): RequestHandler {
  return async (request, response, next) => {
    const key = keys.find(keyOf(request.headers.authorization));
    if (!key) throw new RunError('unauthorized', 'Unauthorized');
    noteCall(response, { key });
    const leave = await limits.enter(key.id);
    response.once('close', leave);
    next();
  };
}
