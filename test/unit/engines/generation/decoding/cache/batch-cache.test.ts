import {
  appendTokens,
  copyPrefix,
  kvBytesPerToken,
  type CacheLayout,
  emptySequenceCache,
} from '../../../../../../runtime/engines/generation/decoding/cache/kv-cache.js';
import { createBatchCache } from '../../../../../../runtime/engines/generation/decoding/cache/batch-cache.js';

const layout: CacheLayout = {
  ports: [
    { past: 'past_key_values.0.key', present: 'present.0.key', heads: 2, width: 2 },
    { past: 'past_key_values.0.value', present: 'present.0.value', heads: 1, width: 3 },
  ],
  type: 'float32',
};

/** Keys and values of `count` tokens of a text: each number names text, port, head, token and place. */
function tokens(text: number, from: number, count: number): Float32Array[] {
  return layout.ports.map(({ heads, width }, port) =>
    Float32Array.from({ length: heads * count * width }, (_, i) => {
      const [head, token, at] = [Math.floor(i / count / width), Math.floor(i / width) % count, i % width];
      return text * 10_000 + port * 1000 + head * 100 + (from + token) * 10 + at;
    }),
  );
}

const fed = (text: number, from: number, count: number) => ({
  ...{ tokens: count, newEntries: tokens(text, from, count), newStates: [] },
});

const cacheOf = (text: number, count: number) =>
  appendTokens(layout, emptySequenceCache(layout), fed(text, 0, count));

test('parts of a text add up to the whole', () => {
  const whole = cacheOf(1, 5);
  const inParts = appendTokens(layout, cacheOf(1, 3), fed(1, 3, 2));
  expect(inParts).toEqual(whole);
  expect(copyPrefix(layout, whole, 3)).toEqual(cacheOf(1, 3));
  expect(kvBytesPerToken(layout)).toBe((2 * 2 + 3) * 4);
});

test('rows of different length keep what is theirs while others come, grow and leave', () => {
  const batch = createBatchCache(layout);
  const [a, b] = [batch.add(cacheOf(1, 2)), batch.add(cacheOf(2, 5))];
  const c = batch.add(cacheOf(3, 40));
  expect(batch.capacity).toBeGreaterThan(40);
  for (let step = 0; step < 30; step++) {
    batch.growIfFull();
    const rows = [a, b, c].filter((row) => batch.rows.includes(row));
    const texts = rows.map((row) => [a, b, c].indexOf(row) + 1);
    const fresh = layout.ports.map((_, port) => {
      const byRow = batch.rows.map((row) => {
        const text = texts[rows.indexOf(row)]!;
        return [...tokens(text, row.length, 1)[port]!];
      });
      return Float32Array.from(byRow.flat());
    });
    batch.append(rows, { newEntries: fresh, newStates: [] });
    if (step === 10) batch.remove(b);
  }
  expect(batch.extract(a)).toEqual(cacheOf(1, 32));
  expect(batch.extract(c)).toEqual(cacheOf(3, 70));
  expect(batch.rows.map(({ index }) => index)).toEqual([0, 1]);
});

test('a row that is not written keeps its length, and its neighbours their numbers', () => {
  const batch = createBatchCache(layout);
  const [a, b] = [batch.add(cacheOf(1, 2)), batch.add(cacheOf(2, 3))];
  const fresh = layout.ports.map((_, port) =>
    Float32Array.from([...tokens(9, 0, 1)[port]!, ...tokens(2, 3, 1)[port]!]),
  );
  batch.append([b], { newEntries: fresh, newStates: [] });
  expect(batch.extract(a)).toEqual(cacheOf(1, 2));
  expect(batch.extract(b)).toEqual(cacheOf(2, 4));
});

test('a duplicate goes its own way', () => {
  const batch = createBatchCache(layout);
  const a = batch.add(cacheOf(1, 3));
  const twin = batch.duplicate(a);
  expect(batch.extract(twin)).toEqual(cacheOf(1, 3));
  batch.remove(a);
  expect(batch.extract(twin)).toEqual(cacheOf(1, 3));
});

test('memory goes back when the long row leaves', () => {
  const batch = createBatchCache(layout);
  const long = batch.add(cacheOf(1, 400));
  const short = batch.add(cacheOf(2, 3));
  batch.remove(long);
  expect(batch.capacity).toBeLessThanOrEqual(64);
  expect(batch.extract(short)).toEqual(cacheOf(2, 3));
  batch.remove(short);
  expect(batch.capacity).toBe(0);
});

test('the feeds have a place for each row and no more', () => {
  const batch = createBatchCache(layout);
  batch.add(cacheOf(1, 2));
  batch.add(cacheOf(2, 2));
  const feeds = batch.feeds();
  expect(feeds['past_key_values.0.key']!.dims).toEqual([2, 2, batch.capacity, 2]);
  expect(feeds['past_key_values.0.value']!.dims).toEqual([2, 1, batch.capacity, 3]);
});

describe('states of fixed size', () => {
  const withStates: CacheLayout = {
    ...{ ports: [], type: 'float32' },
    states: [{ past: 'past_conv.0', present: 'present_conv.0', dims: [2, 1] }],
  };
  const state = (...values: number[]) => ({ length: 1, data: [], states: [Float32Array.from(values)] });

  test('are those of the last token, of the rows that were asked for', () => {
    const batch = createBatchCache(withStates);
    const [a, b, c] = [batch.add(state(1, 2)), batch.add(state(3, 4)), batch.add(state(5, 6))];
    batch.append([b], { newEntries: [], newStates: [Float32Array.of(9, 9, 7, 8, 9, 9)] });
    expect(batch.extract(b)).toEqual({ ...state(7, 8), length: 2 });
    expect(batch.feeds()['past_conv.0']).toMatchObject({
      dims: [3, 2, 1],
      data: Float32Array.of(1, 2, 7, 8, 5, 6),
    });
    const twin = batch.duplicate(b);
    batch.overwrite(c, a);
    batch.remove(a);
    expect(batch.extract(twin).states).toEqual([Float32Array.of(7, 8)]);
    expect(batch.extract(c).states).toEqual([Float32Array.of(1, 2)]);
    expect(batch.feeds()['past_conv.0']!.dims).toEqual([3, 2, 1]);
  });

  test('begin as zeros, and take the place of former ones', () => {
    const empty = emptySequenceCache(withStates);
    expect(empty).toEqual({ length: 0, data: [], states: [Float32Array.of(0, 0)] });
    const newStates = [Float32Array.of(1, 2)];
    const after = appendTokens(withStates, empty, { tokens: 3, newEntries: [], newStates });
    expect(after).toEqual({ length: 3, data: [], states: newStates });
    expect(copyPrefix(withStates, after, 3)).toEqual(after);
  });
});
