import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The key of a request, in any of the headers that clients send it in; empty without one. */
export function keyOf(headers: IncomingHttpHeaders): string {
  const { authorization, 'x-api-key': x, 'api-key': azure } = headers;
  return readBearerKey(authorization ?? [x ?? azure].flat()[0]);
}

/** Extracts the key from `<key>`, `Key <key>` or `Bearer <key>`. */
export function readBearerKey(header: string | undefined): string {
  return (header ?? '')
    .trim()
    .replace(/^(key|bearer)\s+/i, '')
    .trim();
}

/** Compares in constant time. */
export function keysMatch(given: string, expected: string): boolean {
  const digest = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
