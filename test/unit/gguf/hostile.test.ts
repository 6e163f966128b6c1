import { readGgufHeader } from '../../../runtime/gguf/index.js';
import { WeightsError } from '../../../runtime/weights/index.js';
import { rangeFile } from '../../../runtime/weights/read-ranges.js';
import { ggufString, type GgufToWrite, u64, writeGguf } from '../../helpers/gguf/write-gguf.js';
import { sourceOf } from '../weights/support.js';

async function read(bytes: Buffer, size = bytes.length) {
  const { source, reads } = sourceOf({ 'm.gguf': bytes }, { 'm.gguf': size });
  const found = await readGgufHeader(rangeFile(source, { path: 'm.gguf', size })).catch(
    (error: unknown) => error,
  );
  return { found, bytesRead: reads.reduce((sum, { length }) => sum + length, 0) };
}

const GIGA = 2 ** 30;
const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
const list = (type: number, count: number | bigint) => ({
  type: 9,
  bytes: Buffer.concat([u32(type), u64(count)]),
});
const data = new Uint8Array(4);
const tensor = { name: 'a', shape: [1], type: 'F32', data };

const HOSTILE: [code: string, what: string, file: GgufToWrite][] = [
  ['gguf-magic', 'another format', { magic: 'GGML' }],
  ['gguf-version', 'the first version', { version: 1 }],
  ['gguf-version', 'a version to come', { version: 4 }],
  ['byte-order', 'the largest byte first', { version: 0x03000000 }],
  ['too-many-tensors', 'tensors', { tensorCount: 2n ** 63n }],
  ['too-many-keys', 'keys', { keyCount: 2n ** 63n }],
  ['file-length', 'counts beyond the file', { tensorCount: 1000 }],
  ['string-length', 'a text of a gigabyte', { metadata: { a: { type: 8, bytes: u64(GIGA) } } }],
  ['string-length', 'a text of 2^64 - 1 bytes', { metadata: { a: { type: 8, bytes: u64(2n ** 64n - 1n) } } }],
  ['array-length', 'a list of 2^62 texts', { metadata: { a: list(8, 2n ** 62n) } }],
  ['array-length', 'a list of a billion numbers', { metadata: { a: list(4, GIGA) } }],
  ['nested-array', 'a list of lists', { metadata: { a: list(9, 1) } }],
  ['value-type', 'a type that is none', { metadata: { a: { type: 13, bytes: u64(1) } } }],
  ['value-type', 'a list of what is no type', { metadata: { a: list(99, 1) } }],
  ['alignment', 'an alignment of 3', { metadata: { 'general.alignment': 3 } }],
  ['alignment', 'an alignment as text', { metadata: { 'general.alignment': '32' } }],
  ['element-type', 'a type of numbers that is none', { tensors: [{ ...tensor, type: 200 }] }],
  ['unsupported-type', 'a type that was taken back', { tensors: [{ ...tensor, type: 31 }] }],
  ['tensor-size', 'five dimensions', { tensors: [{ ...tensor, shape: [1, 1, 1, 1, 1] }] }],
  ['tensor-size', 'sizes beyond any file', { tensors: [{ ...tensor, shape: [2 ** 40, 2 ** 40] }] }],
  ['tensor-size', 'parts of blocks', { tensors: [{ ...tensor, shape: [33], type: 'Q8_0' }] }],
  ['file-length', 'data beyond the file', { tensors: [{ ...tensor, shape: [1000] }] }],
  ['file-length', 'an offset beyond the file', { tensors: [{ ...tensor, offset: 2n ** 63n }] }],
  ['alignment', 'an offset between places', { tensors: [{ ...tensor, offset: 1 }] }],
  ['tensor-overlap', 'two in one place', { tensors: [tensor, { ...tensor, name: 'b', offset: 0 }] }],
  ['duplicate-name', 'two of one name', { tensors: [tensor, tensor] }],
  ['string-length', 'a long name', { tensors: [{ ...tensor, name: 'a'.repeat(64) }] }],
];

describe('a hostile header', () => {
  it.each(HOSTILE)('is refused as %s: %s', async (code, _what, file) => {
    const { found } = await read(writeGguf(file));
    expect(found).toBeInstanceOf(WeightsError);
    expect(found).toMatchObject({ code, file: 'm.gguf' });
    expect((found as Error).message).toMatch(/^m\.gguf .+; .+/);
  });

  it('is refused as duplicate-name: a key twice', async () => {
    const key = Buffer.concat([ggufString('a'), u32(4), u32(1)]);
    const { found } = await read(
      Buffer.concat([writeGguf({ keyCount: 2 }).subarray(0, 24), key, key, Buffer.alloc(64)]),
    );
    expect(found).toMatchObject({ code: 'duplicate-name' });
  });

  it('is refused as lfs-pointer: what lies in place of the file', async () => {
    const pointer = Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n');
    expect((await read(pointer)).found).toMatchObject({ code: 'lfs-pointer' });
  });

  it('is refused before more than 32 MB are read', async () => {
    // A list that fits the file, and no header.
    const head = writeGguf({ metadata: { a: list(0, 40 * 2 ** 20) } }).subarray(0, 24 + 9 + 4 + 12);
    const { found, bytesRead } = await read(Buffer.concat([head, Buffer.alloc(48 * 2 ** 20)]));
    expect(found).toMatchObject({ code: 'header-length' });
    expect(bytesRead).toBeLessThanOrEqual(2 ** 20);
    const texts = writeGguf({ metadata: { a: list(8, 5 * 2 ** 20) } }).subarray(0, 24 + 9 + 4 + 12);
    const many = await read(Buffer.concat([texts, Buffer.alloc(48 * 2 ** 20)]));
    expect(many.found).toMatchObject({ code: 'header-length' });
    expect(many.bytesRead).toBeLessThanOrEqual(32 * 2 ** 20);
  });

  it('is refused when it is cut anywhere', async () => {
    const whole = writeGguf({
      metadata: { a: 'text', b: { type: 'list', of: 'f32', value: [1, 2] }, c: 1 },
      tensors: [tensor],
    });
    for (let length = 0; length < whole.length - 28; length++) {
      const { found } = await read(whole.subarray(0, length));
      expect(found).toBeInstanceOf(WeightsError);
    }
  });
});

/** As in test/faults: the same seed gives the same changes. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('a header with bytes changed', () => {
  it.each([1, 2, 3, 4])('is read or refused by name, seed %i', async (seed) => {
    const next = random(seed);
    const whole = writeGguf({
      metadata: {
        'general.architecture': 'llama',
        'tokenizer.ggml.tokens': { type: 'list', of: 'string', value: ['a', 'bc', 'def'] },
        'tokenizer.ggml.scores': { type: 'list', of: 'f32', value: [0, 1, 2] },
        'llama.block_count': 2,
      },
      tensors: [
        { name: 'token_embd.weight', shape: [3, 32], type: 'Q4_0', data: new Uint8Array(54) },
        { name: 'b', shape: [2], type: 'F32', data: new Uint8Array(8) },
      ],
    });
    for (let round = 0; round < 500; round++) {
      const changed = Buffer.from(whole);
      for (let i = 0; i <= next() * 4; i++)
        changed[Math.floor(next() * changed.length)] = Math.floor(next() * 256);
      const { found, bytesRead } = await read(changed);
      expect(bytesRead).toBeLessThanOrEqual(changed.length);
      if (found instanceof Error) expect(found).toBeInstanceOf(WeightsError);
      else {
        const { tensors } = found as { tensors: { offset: number; length: number }[] };
        for (const { offset, length } of tensors) expect(offset + length).toBeLessThanOrEqual(changed.length);
      }
    }
  });
});
