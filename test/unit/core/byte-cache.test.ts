import { createByteCache } from '../../../runtime/core/byte-cache.js';

test('the cache keeps what was asked for last, within its bytes', () => {
  // 2 bytes a character and 4 a number: 10 for each.
  const cache = createByteCache<Float32Array>(30, (text, { byteLength }) => 2 * text.length + byteLength);
  const vector = () => Float32Array.of(1, 2);
  for (const text of ['a', 'b', 'c']) cache.set(text, vector());
  cache.get('a');
  cache.set('d', vector());
  expect(['a', 'b', 'c', 'd'].map((text) => cache.get(text) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
  ]);
  cache.set('too long for all of it', vector());
  expect(['a', 'c', 'd', 'too long for all of it'].some((text) => cache.get(text))).toBe(false);
});
