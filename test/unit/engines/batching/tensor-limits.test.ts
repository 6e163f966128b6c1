import { jest } from '@jest/globals';
import { findTensorLimits } from '../../../../runtime/engines/batching/tensor-limits.js';
import type { Tensors } from '../../../../runtime/engines/sessions/tensors.js';

const NUMBERS = 6;
const sample = (seed: number): Tensors => ({
  pixel_values: {
    type: 'float32',
    data: Float32Array.from({ length: NUMBERS }, (_, i) => i + seed),
    dims: [1, 3, 1, 2],
  },
});
const sum = (row: Tensors) => (row['pixel_values']!.data as Float32Array).reduce((a, b) => a + b, 0);

/** A graph whose runs take as long as `cost` says, by a clock that stands still otherwise. */
async function limitsOf(cost: (rows: number) => number, more: Partial<Graph> = {}) {
  let clock = 0;
  const { answerOf = sum, mayDouble = () => true }: Partial<Graph> = more;
  const runs: number[] = [];
  jest.spyOn(performance, 'now').mockImplementation(() => clock);
  try {
    const limits = await findTensorLimits({
      async compute(rows) {
        runs.push(rows.length);
        clock += cost(rows.length);
        return rows.map((row) => ({
          logits: { type: 'float32', data: Float32Array.of(1, answerOf(row, rows.length)), dims: [1, 2] },
        }));
      },
      sample,
      mayDouble,
    });
    return { rows: limits.tokens / NUMBERS, padding: limits.padding, runs };
  } finally {
    jest.restoreAllMocks();
  }
}

interface Graph {
  answerOf(row: Tensors, rows: number): number;
  mayDouble(): boolean;
}

test('a run that is long by itself stays alone, and costs two runs to find out', async () => {
  expect(await limitsOf((rows) => 190 * rows)).toEqual({ rows: 0, padding: 0, runs: [1, 1] });
});

test('rows that take as long in company as alone stay alone', async () => {
  const { rows } = await limitsOf((count) => 5 * count);
  expect(rows).toBe(0);
});

test('rows whose runs cost something by themselves share them, until a run is a long one', async () => {
  expect(await limitsOf((count) => 1 + 0.2 * count)).toMatchObject({ rows: 16, padding: 0 });
  expect(await limitsOf((count) => 30 + count)).toMatchObject({ rows: 16 });
  expect(await limitsOf((count) => 20 + 14 * count)).toMatchObject({ rows: 4 });
});

test('a slow first run, which reads the weights, decides nothing', async () => {
  let first = true;
  const { rows } = await limitsOf((count) => {
    const extra = first ? 5000 : 0;
    first = false;
    return extra + 1 + 0.1 * count;
  });
  expect(rows).toBe(16);
});

test('no run is tried that memory has no room for', async () => {
  let left = 2;
  const { rows, runs } = await limitsOf((count) => 1 + 0.1 * count, { mayDouble: () => left-- > 0 });
  expect(rows).toBe(4);
  expect(Math.max(...runs)).toBe(4);
});

test('a graph whose rows disturb each other takes one at a time', async () => {
  const disturbed = (row: Tensors, rows: number) => sum(row) + 0.01 * rows;
  expect(await limitsOf((count) => 1 + 0.1 * count, { answerOf: disturbed })).toMatchObject({ rows: 0 });
});

test('so does a graph that fails on more than one row', async () => {
  const fixed = (row: Tensors, rows: number) => {
    if (rows > 1) throw new Error('Got invalid dimensions');
    return sum(row);
  };
  expect(await limitsOf((count) => 1 + 0.1 * count, { answerOf: fixed })).toMatchObject({ rows: 0 });
});
