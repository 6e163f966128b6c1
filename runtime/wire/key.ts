import { createHash, timingSafeEqual } from 'node:crypto';

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
