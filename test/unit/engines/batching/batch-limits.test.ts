import { findBatchLimits } from '../../../../runtime/engines/batching/batch-limits.js';
import type { Encoding } from '../../../../runtime/engines/tokenizers/tokenizer.js';

const trial = (valueOf: (row: Encoding, rows: Encoding[]) => number) => ({
  compute: async (rows: Encoding[]) =>
    rows.map((row) => ({
      logits: { type: 'float32', data: Float32Array.from([1, valueOf(row, rows)]), dims: [1, 2] },
    })),
  sample(length: number, seed: number): Encoding {
    const ids = Array.from({ length }, (_, i) => 7 * i + seed);
    return { ids, typeIds: ids.map(() => 0) };
  },
});
const sum = (row: Encoding) => row.ids.reduce((a, b) => a + b, 0) / 1000;

test('a graph whose rows don’t depend on each other takes rows of different length', async () => {
  const limits = await findBatchLimits(trial(sum));
  expect(limits.padding).toBe(0.25);
  expect(limits.tokens).toBeGreaterThanOrEqual(64);
});

test('a graph that gives much for each token gets small runs', async () => {
  const wide = (length: number) => new Float32Array(length * 300_000);
  const compute = async (rows: Encoding[]) =>
    rows.map(({ ids }) => ({
      logits: { type: 'none', data: wide(ids.length), dims: [1, ids.length, 300_000] },
    }));
  expect(await findBatchLimits({ ...trial(sum), compute })).toEqual({ tokens: 64, padding: 0.25 });
});

test('a graph that padding disturbs takes rows of one length', async () => {
  const longest = (rows: Encoding[]) => Math.max(...rows.map(({ ids }) => ids.length));
  const limits = await findBatchLimits(trial((row, rows) => sum(row) + longest(rows) - row.ids.length));
  expect(limits).toMatchObject({ padding: 0 });
  expect(limits.tokens).toBeGreaterThanOrEqual(64);
});

test('a graph whose rows disturb each other takes one at a time', async () => {
  const limits = await findBatchLimits(trial((row, rows) => sum(row) + 0.001 * rows.length));
  expect(limits).toEqual({ tokens: 0, padding: 0 });
});

test('so does a graph that fails on more than one row', async () => {
  const limits = await findBatchLimits(
    trial((row, rows) => {
      if (rows.length > 1) throw new Error('Got invalid dimensions');
      return sum(row);
    }),
  );
  expect(limits).toEqual({ tokens: 0, padding: 0 });
});
