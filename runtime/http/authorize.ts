import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import { RunError } from '../core/errors.js';

/** Takes the key out of `<key>`, `Key <key>` or `Bearer <key>`. */
export function keyOf(header: string | undefined): string {
  return (header ?? '')
    .trim()
    .replace(/^(key|bearer)\s+/i, '')
    .trim();
}

/** Compares in a time that depends on neither value. */
export function sameKey(given: string, expected: string): boolean {
  const digest = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** Demands the key on each call. */
export function authorize(key: string): RequestHandler {
  return (request, _response, next) => {
    if (!sameKey(keyOf(request.headers.authorization), key))
      throw new RunError('unauthorized', 'Unauthorized');
    next();
  };
}
