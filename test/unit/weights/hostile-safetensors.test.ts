import { readWeightIndex, type WeightsErrorCode } from '../../../runtime/weights/index.js';
import { type Files, safetensors, sourceOf } from './support.js';

const tensor = (begin: number, end: number, shape: number[] = [(end - begin) / 4], dtype = 'F32') => ({
  dtype,
  shape,
  data_offsets: [begin, end],
});

async function refusal(
  files: Files,
  sizes?: Record<string, number>,
): Promise<Error & { code: WeightsErrorCode }> {
  const { source } = sourceOf(files, sizes);
  return readWeightIndex(source).then(
    () => Promise.reject(new Error('not refused')),
    (error: Error & { code: WeightsErrorCode }) => error,
  );
}

const ofModel = (file: Buffer) => refusal({ 'model.safetensors': file });

const withLength = (length: bigint): Buffer => {
  const file = safetensors({ a: tensor(0, 4) }, 4);
  file.writeBigUInt64LE(length);
  return file;
};

const CASES: [what: string, code: WeightsErrorCode, file: Buffer][] = [
  ['an empty file', 'header-length', Buffer.alloc(0)],
  ['seven bytes', 'header-length', Buffer.alloc(7)],
  ['a header of a gigabyte', 'header-length', withLength(10n ** 9n)],
  ['a header of 2^64 - 1 bytes', 'header-length', withLength(2n ** 64n - 1n)],
  ['a header longer than the file', 'header-length', withLength(10_000n)],
  ['no header', 'header-json', withLength(0n)],
  [
    'a pointer of Git LFS',
    'lfs-pointer',
    Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:00\n'),
  ],
  ['a header in Latin-1', 'header-json', safetensors(Buffer.from('{"\xe4":1}', 'latin1'))],
  ['an array', 'header-json', safetensors('[]')],
  ['white space before the header', 'header-json', safetensors(' {}')],
  ['two headers', 'header-json', safetensors('{}{}')],
  ['half a header', 'header-json', safetensors('{"a":{"dtype":"F32"')],
  ['a name without an end', 'header-json', safetensors('{"a')],
  ['a name with a control character', 'header-json', safetensors('{"a\nb":1}')],
  ['half a surrogate pair', 'header-json', safetensors('{"\\ud800":{}}')],
  ['a comma too many', 'header-json', safetensors('{"__metadata__":{"a":"b",}}')],
  ['metadata that are numbers', 'header-json', safetensors('{"__metadata__":{"a":1}}')],
  ['a tensor that is a number', 'header-json', safetensors('{"a":1}')],
  ['no type', 'header-json', safetensors({ a: { shape: [1], data_offsets: [0, 4] } }, 4)],
  ['no shape', 'header-json', safetensors({ a: { dtype: 'F32', data_offsets: [0, 4] } }, 4)],
  ['no offsets', 'header-json', safetensors({ a: { dtype: 'F32', shape: [1] } }, 4)],
  ['one offset', 'header-json', safetensors({ a: { ...tensor(0, 4), data_offsets: [4] } }, 4)],
  ['three offsets', 'header-json', safetensors({ a: { ...tensor(0, 4), data_offsets: [0, 4, 4] } }, 4)],
  ['65 dimensions', 'header-json', safetensors({ a: tensor(0, 4, Array<number>(65).fill(1)) }, 4)],
  [
    'values a thousand deep',
    'header-json',
    safetensors(`{"a":{"more":${'['.repeat(1000)}${']'.repeat(1000)}}}`),
  ],
  [
    'millions of values that nobody reads',
    'header-json',
    safetensors(`{"a":{"more":[${'[],'.repeat(3e6)}[]]}}`),
  ],
  [
    'a hundred thousand metadata',
    'header-json',
    safetensors({ __metadata__: Object.fromEntries(Array.from({ length: 100_001 }, (_, i) => [i, ''])) }),
  ],
  ['one name twice', 'duplicate-name', safetensors(`{"a":${JSON.stringify(tensor(0, 4))},"\\u0061":{}}`, 4)],
  ['one key twice', 'duplicate-name', safetensors('{"a":{"dtype":"F32","dtype":"F32"}}')],
  ['a negative offset', 'header-number', safetensors({ a: tensor(-4, 0, [1]) })],
  ['a negative dimension', 'header-number', safetensors({ a: tensor(0, 4, [-1]) }, 4)],
  ['a fraction', 'header-number', safetensors({ a: tensor(0, 4, [0.5]) }, 4)],
  ['a number with an exponent', 'header-number', safetensors('{"a":{"shape":[1e0]}}')],
  ['a number beyond 2^53', 'header-number', safetensors('{"a":{"shape":[9007199254740993]}}')],
  ['a number with a leading zero', 'header-number', safetensors('{"a":{"shape":[01]}}')],
  ['a text as a number', 'header-number', safetensors('{"a":{"shape":["1"]}}')],
  ['a number of a million digits', 'header-number', safetensors(`{"a":{"shape":[${'1'.repeat(1e6)}]}}`)],
  ['an unknown type', 'element-type', safetensors({ a: tensor(0, 4, [1], 'F33') }, 4)],
  ['a type of the wrong case', 'element-type', safetensors({ a: tensor(0, 4, [1], 'f32') }, 4)],
  ['a wrong type', 'tensor-size', safetensors({ a: tensor(0, 4, [1], 'F64') }, 4)],
  ['a wrong shape', 'tensor-size', safetensors({ a: tensor(0, 4, [2]) }, 4)],
  ['offsets the wrong way round', 'tensor-size', safetensors({ a: tensor(4, 0, [1]) }, 4)],
  ['a product beyond 2^53', 'tensor-size', safetensors({ a: tensor(0, 4, [2 ** 40, 2 ** 40]) }, 4)],
  ['half a byte', 'tensor-size', safetensors({ a: tensor(0, 1, [3], 'F4') }, 1)],
  ['tensors that overlap', 'tensor-overlap', safetensors({ a: tensor(0, 8), b: tensor(4, 12) }, 12)],
  ['one tensor inside of another', 'tensor-overlap', safetensors({ a: tensor(0, 12), b: tensor(4, 8) }, 12)],
  ['two tensors at one place', 'tensor-overlap', safetensors({ a: tensor(0, 4), b: tensor(0, 4) }, 4)],
  ['a gap', 'tensor-gap', safetensors({ a: tensor(0, 4), b: tensor(8, 12) }, 12)],
  ['a gap before all', 'tensor-gap', safetensors({ a: tensor(4, 8) }, 8)],
  ['a file cut off', 'file-length', safetensors({ a: tensor(0, 8) }, 7)],
  ['a file too long', 'file-length', safetensors({ a: tensor(0, 8) }, 9)],
];

test.each(CASES)('%s: %s', async (_, code, file) => {
  const error = await ofModel(file);
  expect({ name: error.name, code: error.code, message: error.message }).toEqual({
    name: 'WeightsError',
    code,
    message: expect.stringMatching(/^model\.safetensors .+; .+/) as string,
  });
});

test('every code of the headers has a case', () => {
  const codes = new Set(CASES.map(([, code]) => code));
  expect([...codes].sort()).toEqual([
    'duplicate-name',
    'element-type',
    'file-length',
    'header-json',
    'header-length',
    'header-number',
    'lfs-pointer',
    'tensor-gap',
    'tensor-overlap',
    'tensor-size',
  ]);
});

test('names that mean something to JavaScript, unknown keys and padding are harmless', async () => {
  const odd = ['__proto__', 'constructor', 'toString', '', 'a/../b'];
  const entries = odd.map((name, i) => `${JSON.stringify(name)}:${JSON.stringify(tensor(4 * i, 4 * i + 4))}`);
  const more = '"z":{"more":[{"a":null},-1.5e3,"x"],"dtype":"F32","shape":[0,5],"data_offsets":[20,20]}';
  const file = safetensors(`{"__metadata__":null,${[...entries, more].join(',')}}   `, 20);
  const index = await readWeightIndex(sourceOf({ 'model.safetensors': file }).source);
  expect([...index.keys()]).toEqual([...odd, 'z']);
  expect(index.get('__proto__')).toEqual({
    file: 'model.safetensors',
    offset: file.length - 20,
    length: 4,
    type: 'F32',
    shape: [1],
  });
});

test('a header of a gigabyte is refused without being read', async () => {
  const { source, reads } = sourceOf(
    { 'model.safetensors': withLength(10n ** 9n) },
    { 'model.safetensors': 2e9 },
  );
  source.read = async (path, offset, length) => {
    reads.push({ path, offset, length });
    const bytes = Buffer.alloc(length);
    withLength(10n ** 9n).copy(bytes);
    return bytes;
  };
  await expect(readWeightIndex(source)).rejects.toMatchObject({ code: 'header-length' });
  expect(reads).toEqual([{ path: 'model.safetensors', offset: 0, length: 32_768 }]);
});

test('a source that gives too few bytes is no answer', async () => {
  const file = safetensors({ a: tensor(0, 8) }, 8);
  const error = await refusal(
    { 'model.safetensors': file.subarray(0, 20) },
    { 'model.safetensors': file.length },
  );
  expect(error).toMatchObject({ code: 'short-read' });
});

test('a long header lets other work run', async () => {
  const names = Array.from(
    { length: 60_000 },
    (_, i) => `"${i}":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`,
  );
  const reading = readWeightIndex(
    sourceOf({ 'model.safetensors': safetensors(`{${names.join(',')}}`) }).source,
  );
  const state = { done: false };
  let turns = 0;
  void reading.finally(() => (state.done = true));
  while (!state.done) {
    await new Promise((resolve) => setImmediate(resolve));
    turns++;
  }
  expect((await reading).size).toBe(60_000);
  expect(turns).toBeGreaterThan(10);
});

describe('shards', () => {
  const INDEX = 'model.safetensors.index.json';
  const [one, two] = [safetensors({ a: tensor(0, 4) }, 4), safetensors({ b: tensor(0, 4) }, 4)];
  const index = (map: unknown) =>
    Buffer.from(JSON.stringify({ metadata: { total_size: 8 }, weight_map: map }));
  const SHARDS: Files = { '1.safetensors': one, '2.safetensors': two };

  const cases: [what: string, code: WeightsErrorCode, files: Files][] = [
    ['an index that is no JSON', 'index-json', { [INDEX]: Buffer.from('{') }],
    ['an index without a map', 'index-json', { [INDEX]: Buffer.from('{"metadata":{}}') }],
    ['a map to numbers', 'index-json', { [INDEX]: index({ a: 1 }) }],
    ['one name twice', 'duplicate-name', { [INDEX]: Buffer.from('{"weight_map":{"a":"1","a":"2"}}') }],
    ['a path upwards', 'shard-path', { [INDEX]: index({ a: '../x' }) }],
    ['a path upwards from inside', 'shard-path', { [INDEX]: index({ a: 'x/../../y' }) }],
    ['an absolute path', 'shard-path', { [INDEX]: index({ a: '/etc/passwd' }) }],
    ['a path of Windows', 'shard-path', { [INDEX]: index({ a: 'C:\\x' }) }],
    ['no name', 'shard-path', { [INDEX]: index({ a: '' }) }],
    ['a shard that is not there', 'shard-missing', { [INDEX]: index({ a: '3.safetensors' }) }],
    ['a shard in place of a name of JavaScript', 'shard-missing', { [INDEX]: index({ a: '__proto__' }) }],
    [
      'a tensor that is nowhere',
      'tensor-missing',
      { [INDEX]: index({ a: '1.safetensors', c: '2.safetensors' }) },
    ],
    [
      'a tensor in another shard',
      'tensor-missing',
      { [INDEX]: index({ a: '2.safetensors', b: '1.safetensors' }) },
    ],
    [
      'names that collide',
      'name-collision',
      { [INDEX]: index({ a: '1.safetensors', b: '2.safetensors' }), '2.safetensors': one },
    ],
    [
      'a shard cut off',
      'file-length',
      {
        [INDEX]: index({ a: '1.safetensors', b: '2.safetensors' }),
        '2.safetensors': two.subarray(0, two.length - 1),
      },
    ],
  ];

  test.each(cases)('%s: %s', async (_, code, files) => {
    const error = await refusal({ ...SHARDS, ...files });
    expect(error).toMatchObject({ name: 'WeightsError', code });
  });

  test('after a broken shard no other is begun', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `${i}.safetensors`);
    const files = Object.fromEntries(names.map((name) => [name, Buffer.alloc(3)]));
    const { source, reads } = sourceOf({
      [INDEX]: index(Object.fromEntries(names.map((n) => [n, n]))),
      ...files,
    });
    await expect(readWeightIndex(source)).rejects.toMatchObject({ code: 'header-length' });
    expect(reads.length).toBeLessThan(8);
  });

  test('a caller who leaves ends the reading', async () => {
    const { source, reads } = sourceOf({ [INDEX]: index({ a: '1.safetensors' }), ...SHARDS });
    const leaving = new AbortController();
    const read = source.read;
    source.read = async (...args) => {
      leaving.abort();
      return read(...args);
    };
    await expect(readWeightIndex(source, { signal: leaving.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(reads).toHaveLength(1);
  });
});
