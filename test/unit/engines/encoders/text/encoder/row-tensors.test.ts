import { withCacheShapes } from '../../../../../../runtime/engines/encoders/text/encoder/graph-ports.js';
import {
  checkInputs,
  createFeeds,
  readsBags,
  splitRows,
} from '../../../../../../runtime/engines/encoders/text/encoder/row-tensors.js';

const ids = { name: 'input_ids', type: 'int64', shape: ['batch', 'sequence'] };
const mask = { name: 'attention_mask', type: 'int32', shape: ['batch', 'sequence'] };
const rows = [
  { ids: [5, 6], typeIds: [0, 1] },
  { ids: [7, 8, 9], typeIds: [0, 0, 0] },
];

test('shorter rows are padded on the right with the model’s padding id and a mask of 0', () => {
  const feeds = createFeeds([ids, mask], rows, 1);
  expect(feeds['input_ids']).toEqual({
    type: 'int64',
    data: BigInt64Array.from([5n, 6n, 1n, 7n, 8n, 9n]),
    dims: [2, 3],
  });
  expect(feeds['attention_mask']).toEqual({
    type: 'int32',
    data: Int32Array.from([1, 1, 0, 1, 1, 1]),
    dims: [2, 3],
  });
});

test.each([
  ['float32', Float32Array],
  ['bool', Uint8Array],
])('a mask of %s', (type, List) => {
  const { data } = createFeeds([{ ...mask, type }], rows, 1)['attention_mask']!;
  expect(data).toEqual(List.from([1, 1, 0, 1, 1, 1]));
});

test('a row may bring padding of its own', () => {
  const feeds = createFeeds([mask], [{ ids: [1, 5, 6], typeIds: [0, 0, 0], mask: [0, 1, 1] }, rows[0]!], 1);
  expect(feeds['attention_mask']!.data).toEqual(Int32Array.from([0, 1, 1, 1, 1, 0]));
});

test('a text without a page has boxes of zeros', () => {
  const bbox = { name: 'bbox', type: 'int64', shape: ['batch', 'sequence', 4] };
  expect(createFeeds([bbox], rows, 1)).toEqual({
    bbox: { type: 'int64', data: new BigInt64Array(2 * 3 * 4), dims: [2, 3, 4] },
  });
});

test('each row gets its own tokens of what has a token axis, and all of what has none', () => {
  const outputs = {
    hidden: {
      type: 'float32',
      data: Float32Array.from([1, 2, 3, 4, 0, 0, 5, 6, 7, 8, 9, 10]),
      dims: [2, 3, 2],
    },
    logits: { type: 'float32', data: Float32Array.from([1, 2, 3, 4, 5, 6]), dims: [2, 3] },
    start_logits: { type: 'float32', data: Float32Array.from([1, 2, 0, 3, 4, 5]), dims: [2, 3] },
  };
  const ports = [
    { name: 'hidden', type: 'float32', shape: ['batch', 'sequence', 2] },
    { name: 'logits', type: 'float32', shape: ['batch', 3] },
    { name: 'start_logits', type: 'float32', shape: ['batch', 'sequence'] },
  ];
  const [first, second] = splitRows(outputs, rows, { inputs: [], outputs: ports });
  expect(first).toEqual({
    hidden: { type: 'float32', data: Float32Array.from([1, 2, 3, 4]), dims: [1, 2, 2] },
    logits: { type: 'float32', data: Float32Array.from([1, 2, 3]), dims: [1, 3] },
    start_logits: { type: 'float32', data: Float32Array.from([1, 2]), dims: [1, 2] },
  });
  expect(second!['hidden']!.dims).toEqual([1, 3, 2]);
  expect(Array.from(second!['logits']!.data as Float32Array)).toEqual([4, 5, 6]);
});

describe('a graph whose shapes are fixed', () => {
  const fixed = [{ ...ids, shape: [1, 4] }];
  const row = rows[0]!;

  test('gets rows of that many tokens, and padding is no answer', () => {
    expect(createFeeds(fixed, [row], 9)['input_ids']).toMatchObject({
      data: BigInt64Array.from([5n, 6n, 9n, 9n]),
      dims: [1, 4],
    });
    const states = { type: 'float32', data: Float32Array.from([1, 2, 3, 4]), dims: [1, 4, 1] };
    const outputs = [{ name: 'states', type: 'float32', shape: [1, 4, 1] }];
    expect(splitRows({ states }, [row], { inputs: fixed, outputs })[0]!['states']).toEqual({
      type: 'float32',
      data: Float32Array.from([1, 2]),
      dims: [1, 2, 1],
    });
  });

  test('is refused where it wants several texts at a time', () => {
    expect(() => checkInputs([{ ...ids, shape: [4, 16] }])).toThrow('the graph wants 4 texts at a time');
  });
});

test('bags of tokens lie one after another', () => {
  const flat = [
    { ...ids, shape: ['tokens'] },
    { name: 'offsets', type: 'int64', shape: ['texts'] },
  ];
  expect(readsBags(flat)).toBe(true);
  expect(createFeeds(flat, [...rows, rows[0]!], 0)).toEqual({
    input_ids: { type: 'int64', data: BigInt64Array.from([5n, 6n, 7n, 8n, 9n, 5n, 6n]), dims: [7] },
    offsets: { type: 'int64', data: BigInt64Array.from([0n, 2n, 5n]), dims: [3] },
  });
});

test('caches are empty, in the shape that the graph or else the configuration gives', () => {
  const cache = { name: 'past_key_values.0.key', type: 'float16', shape: ['batch', 'heads', 'past', 8] };
  const inputs = withCacheShapes([ids, cache], { num_key_value_heads: 2 });
  expect(createFeeds(inputs, rows, 1)[cache.name]).toEqual({
    type: 'float16',
    data: new Uint16Array(0),
    dims: [2, 2, 0, 8],
  });
  checkInputs(inputs);
  const odd = { ...cache, name: 'past_key_values.0.decoder.key' };
  expect(() => checkInputs([ids, odd])).toThrow(`inputs that a text can't give: ${odd.name}`);
});
