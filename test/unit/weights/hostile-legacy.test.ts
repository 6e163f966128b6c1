import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readWeightIndex, WeightsError } from '../../../runtime/weights/index.js';
import { FIXTURES, sourceOf } from './support.js';

/** By scripts/fixtures/weight_files.py: one storage of 24 floats, its number of elements before it. */
const SHARED = readFileSync(join(FIXTURES, 'legacy-shared/pytorch_model.bin'));
const DATA = SHARED.length - 24 * 4;

const codeOf = (file: Buffer): Promise<string> =>
  readWeightIndex(sourceOf({ 'pytorch_model.bin': file }).source).then(
    () => 'read',
    (error: unknown) => {
      expect(error).toBeInstanceOf(WeightsError);
      return (error as WeightsError).code;
    },
  );

function changed(change: (file: Buffer) => void): Buffer {
  const file = Buffer.from(SHARED);
  change(file);
  return file;
}

test('a file that was cut anywhere is refused', async () => {
  for (let length = 0; length < SHARED.length; length++)
    expect(await codeOf(SHARED.subarray(0, length))).not.toBe('read');
});

test('no byte of the index that differs leads out of the file', async () => {
  for (let at = 0; at < DATA; at++) {
    for (const value of [0, 0x2e, 0x7f, 0xff]) {
      const file = changed((bytes) => bytes.writeUInt8(value, at));
      const { source } = sourceOf({ 'pytorch_model.bin': file });
      const index = await readWeightIndex(source).catch((error: unknown) => error);
      if (index instanceof Map) {
        for (const { offset, length } of (index as Awaited<ReturnType<typeof readWeightIndex>>).values())
          expect(offset >= DATA && offset + length <= file.length).toBe(true);
      } else expect(index).toBeInstanceOf(WeightsError);
    }
  }
});

test.each<[string, string, Buffer]>([
  [
    'another number of elements before a storage',
    'storage',
    changed((file) => file.writeBigInt64LE(23n, DATA - 8)),
  ],
  ['a negative number of elements', 'storage', changed((file) => file.writeBigInt64LE(-1n, DATA - 8))],
  ['bytes behind the last storage', 'storage', Buffer.concat([SHARED, Buffer.alloc(4)])],
  ['another version', 'legacy-pickle', changed((file) => file.writeUInt8(0xea, 18))],
  [
    'big-endian numbers',
    'byte-order',
    changed((file) => file.writeUInt8(0x89, file.indexOf(0x88, file.indexOf('little_endian')))),
  ],
])('%s: %s', async (_, code, file) => {
  expect(await codeOf(SHARED)).toBe('read');
  expect(await codeOf(file)).toBe(code);
});
