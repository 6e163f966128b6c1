import { ggufSizes, llamaMemory, shapeFor, type ShapeInput } from '../../../runtime/gguf/index.js';

const MB = 1e6;

/** A model of 28 layers with 1 GB of weights. */
const model = (type = 'Q8_0'): ShapeInput['model'] => ({
  tensors: [
    {
      ...{ name: 'token_embd.weight', shape: [100_000, 1024], offset: 0, file: 'a.gguf' },
      type,
      length: 200 * MB,
    },
    {
      ...{ name: 'blk.0.attn_q.weight', shape: [1024, 1024], offset: 0, file: 'a.gguf' },
      type,
      length: 800 * MB,
    },
  ],
  metadata: new Map<string, string | number>([
    ['general.architecture', 'llama'],
    ['llama.block_count', 28],
    ['llama.embedding_length', 1024],
    ['llama.feed_forward_length', 3072],
    ['llama.attention.head_count', 16],
    ['llama.attention.head_count_kv', 8],
    ['llama.context_length', 131_072],
  ]),
});

const fitting = (more: Partial<ShapeInput> = {}) =>
  shapeFor({ model: model(), settings: {}, cacheBytes: Infinity, room: Infinity, limit: undefined, ...more });

test('keys and values take 2 · layers · heads · width · bytes a token', () => {
  const shape = fitting();
  expect(shape).toMatchObject({ cells: 16_384, cacheType: 'f16' });
  expect(llamaMemory(model(), shape).cache).toBe(16_384 * 2 * 28 * 8 * 64 * 2);
});

test('weights of 32 bits have a cache of 32 bits', () => {
  expect(fitting({ model: model('F32') }).cacheType).toBe('f32');
  expect(fitting({ model: model('F32'), settings: { cacheType: 'q8_0' } }).cacheType).toBe('q8_0');
});

test('copies of matrices are counted for types that are reordered', () => {
  expect(llamaMemory(model('Q8_0'), fitting()).repacked).toBe(0);
  expect(llamaMemory(model('Q4_K'), fitting()).repacked).toBe(800 * MB);
});

test('a short memory gets a shorter cache', () => {
  const room = 1300 * MB;
  const shape = fitting({ room });
  expect(shape.cells).toBeGreaterThanOrEqual(256);
  expect(shape.cells).toBeLessThan(16_384);
  expect(llamaMemory(model(), shape).total).toBeLessThanOrEqual(room);
});

test('CACHE_BYTES bounds the cache', () => {
  const shape = fitting({ cacheBytes: 100 * MB });
  expect(llamaMemory(model(), shape).cache).toBeLessThanOrEqual(100 * MB);
});

test('what can not fit is refused with numbers, before anything is opened', () => {
  const refused = () => fitting({ room: 900 * MB, limit: { limit: 1000 * MB, bodies: 0 } });
  expect(refused).toThrow(/takes \d{4} MB with a cache of 256 tokens, and 900 MB of 1000 MB are left/);
});

test('CONTEXT_LENGTH is followed or refused, never shortened', () => {
  expect(fitting({ settings: { contextLength: 1000 } }).cells).toBe(1024);
  expect(() => fitting({ settings: { contextLength: 131_072 }, room: 2000 * MB })).toThrow(
    /with CONTEXT_LENGTH 131072/,
  );
});

test('positions with factors by length have a cache for which llama.cpp takes the short ones, but where more is asked for', () => {
  const { metadata, tensors } = model();
  const known = new Map([...metadata, ['llama.rope.scaling.original_context_length', 4096] as const]);
  const factors = { ...tensors[0]!, name: 'rope_factors_long.weight', shape: [32], length: 128 };
  const scaled = { metadata: known, tensors: [...tensors, factors] };
  expect(fitting({ model: { metadata: known, tensors } }).cells).toBe(16_384);
  expect(fitting({ model: scaled }).cells).toBe(4096);
  expect(fitting({ model: scaled, settings: { contextLength: 8192 } }).cells).toBe(8192);
});

test('texts are no longer than windows that llama.cpp ignores', () => {
  const lengthOf = (architecture: string, window: number, layers = 2) =>
    ggufSizes(
      new Map<string, string | number>([
        ['general.architecture', architecture],
        [`${architecture}.context_length`, 8192],
        [`${architecture}.block_count`, layers],
        [`${architecture}.attention.sliding_window`, window],
      ]),
      [],
    ).exactLength;
  expect(lengthOf('phi3', 2047)).toBe(2047);
  expect(lengthOf('phi3', 262_144)).toBe(8192);
  expect(lengthOf('phi3', 0)).toBe(8192);
  expect(lengthOf('gemma3', 512)).toBe(8192);
  expect(lengthOf('exaone4', 1024)).toBe(1024);
  expect(lengthOf('exaone4', 1024, 64)).toBe(8192);
  expect(lengthOf('starcoder2', 2048)).toBe(2048);
  const starcoder = new Map<string, string | number>([
    ['general.architecture', 'starcoder2'],
    ['starcoder2.context_length', 16_384],
  ]);
  expect(ggufSizes(starcoder, []).exactLength).toBe(4096);
});
