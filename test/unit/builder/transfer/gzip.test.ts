import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { gzipBlocks } from '../../../../builder/transfer/gzip.js';

const MIB = 2 ** 20;

const zip = (bytes: Buffer, size: number) => {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return buffer(Readable.from(gzipBlocks(Readable.from(chunks)), { objectMode: false }));
};

test.each([0, 1, MIB - 1, MIB, MIB + 1, 3 * MIB + 7])('%d bytes come back as they were', async (length) => {
  const bytes = randomBytes(length);
  expect(gunzipSync(await zip(bytes, 60_000)).equals(bytes)).toBe(true);
});

test('how the bytes arrive changes nothing', async () => {
  const bytes = Buffer.concat([randomBytes(MIB), Buffer.alloc(2 * MIB, 'text '), randomBytes(100)]);
  const [one, other] = [await zip(bytes, 1000), await zip(bytes, 5 * MIB)];
  expect(one.equals(other)).toBe(true);
  expect(gunzipSync(one).equals(bytes)).toBe(true);
  // Text is compressed, what can't be is stored.
  expect(one.length).toBeGreaterThan(MIB);
  expect(one.length).toBeLessThan(MIB + 50_000);
});

test('a source that breaks fails', async () => {
  const broken = new Readable({ read: () => void broken.destroy(new Error('gone')) });
  await expect(buffer(Readable.from(gzipBlocks(broken)))).rejects.toThrow('gone');
});
