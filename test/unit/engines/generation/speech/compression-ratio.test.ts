import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compressionRatio } from '../../../../../runtime/engines/generation/speech/compression-ratio.js';
import { deflatedSize } from '../../../../../runtime/engines/generation/speech/deflate/deflated-size.js';

const file = join(import.meta.dirname, '../../../../fixtures/deflate-sizes.json');
const rows = JSON.parse(await readFile(file, 'utf8')) as { bytes: string; size: number }[];

test.each(
  rows.map(({ bytes, size }, i) => ({ i, length: Buffer.from(bytes, 'base64').length, bytes, size })),
)('row $i: $length bytes become as short as with Python’s zlib', ({ bytes, size }) => {
  expect(deflatedSize(Buffer.from(bytes, 'base64'))).toBe(size);
});

test('a token is as many bytes as the vocabulary needs, the lowest first', () => {
  const tokens = [258, 5, 258, 5, 70_000];
  const bytes = (width: number) =>
    Buffer.concat(
      tokens.map((token) => {
        const one = Buffer.alloc(8);
        one.writeBigUInt64LE(BigInt(token));
        return one.subarray(0, width);
      }),
    );
  for (const [vocabulary, width] of [
    [200, 1],
    [256, 2],
    [51_865, 2],
    [65_536, 3],
  ] as const) {
    expect(compressionRatio(tokens, vocabulary)).toBe((5 * width) / deflatedSize(bytes(width)));
  }
});
