import { setImmediate as turn } from 'node:timers/promises';
import { readGgufHeader, readGgufModel } from '../../../runtime/gguf/index.js';
import { rangeFile } from '../../../runtime/weights/read-ranges.js';
import { type GgufToWrite, writeGguf } from '../../helpers/gguf/write-gguf.js';
import { sourceOf } from '../weights/support.js';

async function headerOf(file: GgufToWrite) {
  const bytes = writeGguf(file);
  const { source, reads } = sourceOf({ 'm.gguf': bytes });
  const header = await readGgufHeader(rangeFile(source, { path: 'm.gguf', size: bytes.length }));
  return { ...header, reads, bytes };
}

const floats = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);

describe('readGgufHeader', () => {
  it('reads values of every type', async () => {
    const { metadata } = await headerOf({
      metadata: {
        text: 'naïve',
        yes: true,
        small: { type: 'u8', value: 255 },
        below: { type: 'i8', value: -1 },
        u16: { type: 'u16', value: 65535 },
        i16: { type: 'i16', value: -2 },
        u32: { type: 'u32', value: 2 ** 32 - 1 },
        i32: { type: 'i32', value: -3 },
        f32: { type: 'f32', value: 0.5 },
        f64: { type: 'f64', value: 0.1 },
        u64: { type: 'u64', value: 2n ** 53n },
        i64: { type: 'i64', value: -4 },
        texts: { type: 'list', of: 'string', value: ['a', ''] },
        ids: { type: 'list', of: 'i32', value: [1, -1] },
        scores: { type: 'list', of: 'f32', value: [-0.5] },
        flags: { type: 'list', of: 'bool', value: [true, false] },
      },
    });
    expect(Object.fromEntries(metadata)).toEqual({
      ...{ text: 'naïve', yes: true, small: 255, below: -1, u16: 65535, i16: -2, u32: 4294967295, i32: -3 },
      ...{ f32: 0.5, f64: 0.1, u64: 2n ** 53n, i64: -4, texts: ['a', ''], flags: [true, false] },
      ...{ ids: Int32Array.of(1, -1), scores: Float32Array.of(-0.5) },
    });
  });

  it('has the shapes of transformers and places in the file', async () => {
    const { tensors, bytes, dataOffset, version } = await headerOf({
      version: 2,
      tensors: [
        { name: 'a', shape: [2, 3], type: 'F32', data: floats(1, 2, 3, 4, 5, 6) },
        { name: 'b', shape: [1, 32], type: 'Q8_0', data: new Uint8Array(34).fill(7) },
      ],
    });
    expect(version).toBe(2);
    expect(tensors).toEqual([
      { name: 'a', shape: [2, 3], type: 'F32', offset: dataOffset, length: 24 },
      { name: 'b', shape: [1, 32], type: 'Q8_0', offset: dataOffset + 32, length: 34 },
    ]);
    expect(bytes[tensors[1]!.offset]).toBe(7);
  });

  it('goes by the alignment that the file names', async () => {
    const { dataOffset, bytes } = await headerOf({
      alignment: 256,
      metadata: { 'general.alignment': 256 },
      tensors: [{ name: 'a', shape: [1], type: 'F32', data: floats(9) }],
    });
    expect(dataOffset % 256).toBe(0);
    expect(bytes.readFloatLE(dataOffset)).toBe(9);
  });

  it('reads a vocabulary of 262,144 tokens from less than 8 MB, and lets other work run', async () => {
    const tokens = Array.from({ length: 262_144 }, (_, i) => `token${i}`);
    const list = { type: 'list', of: 'string', value: tokens } as const;
    const bytes = writeGguf({
      metadata: {
        'tokenizer.ggml.tokens': list,
        'tokenizer.ggml.token_type': { type: 'list', of: 'i32', value: tokens.map(() => 1) },
      },
      tensors: [{ name: 'a', shape: [2 ** 22], type: 'F32', data: new Uint8Array(2 ** 24) }],
    });
    const { source, reads } = sourceOf({ 'm.gguf': bytes });
    let turns = 0;
    const reading = new AbortController();
    const others = (async () => {
      while (!reading.signal.aborted) {
        turns++;
        await turn();
      }
    })();
    const { metadata } = await readGgufHeader(rangeFile(source, { path: 'm.gguf', size: bytes.length }));
    reading.abort();
    await others;
    expect(metadata.get('tokenizer.ggml.tokens')).toHaveLength(262_144);
    expect(reads.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(8_000_000);
    expect(turns).toBeGreaterThan(20);
  });
});

describe('readGgufModel', () => {
  const part = (no: number, name: string, more: GgufToWrite['metadata'] = {}) =>
    writeGguf({
      metadata: {
        ...(no === 0 ? { 'general.architecture': 'llama' } : {}),
        ...{ 'split.no': { type: 'u16', value: no }, 'split.count': { type: 'u16', value: 2 } },
        'split.tensors.count': { type: 'i32', value: 2 },
        ...more,
      },
      tensors: [{ name, shape: [1], type: 'F32', data: floats(no) }],
    });
  const [one, two] = ['Q8_0/m-Q8_0-00001-of-00002.gguf', 'Q8_0/m-Q8_0-00002-of-00002.gguf'];
  const read = (files: Record<string, Buffer>, path = one) => readGgufModel(sourceOf(files).source, path);

  it('puts the parts together, whichever is named', async () => {
    const files = { [one]: part(0, 'a'), [two]: part(1, 'b') };
    for (const path of [one, two]) {
      const { tensors, files: paths, metadata } = await read(files, path);
      expect(tensors.map(({ name, file }) => [name, file])).toEqual([
        ['a', one],
        ['b', two],
      ]);
      expect(paths).toEqual([one, two]);
      expect(metadata.get('general.architecture')).toBe('llama');
    }
  });

  it.each([
    ['shard-missing', { [one]: part(0, 'a') }],
    ['split', { [one]: part(0, 'a'), [two]: part(0, 'b') }],
    ['split', { [one]: part(0, 'a'), [two]: part(1, 'b', { 'general.architecture': 'qwen2' }) }],
    [
      'split',
      { [one]: part(0, 'a'), [two]: part(1, 'b', { 'split.tensors.count': { type: 'i32', value: 3 } }) },
    ],
    ['split', { [one]: part(0, 'a'), [two]: part(1, 'b', { 'split.count': { type: 'u16', value: 3 } }) }],
    ['name-collision', { [one]: part(0, 'a'), [two]: part(1, 'a') }],
    [
      'tensor-missing',
      {
        [one]: part(0, 'a', { 'split.tensors.count': { type: 'i32', value: 3 } }),
        [two]: part(1, 'b', { 'split.tensors.count': { type: 'i32', value: 3 } }),
      },
    ],
  ])('refuses what does not belong together: %s', async (code, files) => {
    await expect(read(files)).rejects.toMatchObject({ name: 'WeightsError', code });
  });

  it('refuses one part under a name of its own', async () => {
    await expect(read({ 'm.gguf': part(0, 'a') }, 'm.gguf')).rejects.toMatchObject({ code: 'split' });
  });
});
