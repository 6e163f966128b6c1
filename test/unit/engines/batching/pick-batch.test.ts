import { pickBatch } from '../../../../runtime/engines/batching/pick-batch.js';

const queue = (...lengths: number[]) => lengths.map((length, age) => ({ length, age }));
const lengthsOf = (rows: { length: number }[]) => rows.map(({ length }) => length);

test('rows of one length share a run up to the budget', () => {
  const picked = pickBatch(queue(10, 10, 10, 10, 10), { tokens: 40, padding: 0.25 });
  expect(lengthsOf(picked)).toEqual([10, 10, 10, 10]);
});

test('the oldest row is always in, whatever the others have in common', () => {
  const picked = pickBatch(queue(100, 8, 8, 8, 8), { tokens: 256, padding: 0.25 });
  expect(lengthsOf(picked)).toEqual([100]);
});

test('neighbours in length join, from both sides, until a quarter would be padding', () => {
  const picked = pickBatch(queue(20, 2, 18, 40, 22, 19), { tokens: 256, padding: 0.25 });
  expect(lengthsOf(picked)).toEqual([18, 19, 20, 22]);
});

test('padding counts against the budget', () => {
  const picked = pickBatch(queue(30, 32, 32), { tokens: 64, padding: 0.25 });
  expect(lengthsOf(picked)).toEqual([30, 32]);
  expect(lengthsOf(pickBatch(queue(30, 33), { tokens: 64, padding: 0.25 }))).toEqual([30]);
});

test('without padding only equals share a run', () => {
  expect(lengthsOf(pickBatch(queue(7, 8, 7, 6, 7), { tokens: 256, padding: 0 }))).toEqual([7, 7, 7]);
});

test('a row beyond the budget runs alone', () => {
  expect(lengthsOf(pickBatch(queue(500, 500), { tokens: 256, padding: 0.25 }))).toEqual([500]);
  expect(lengthsOf(pickBatch(queue(500, 500), { tokens: 0, padding: 0 }))).toEqual([500]);
});

test('only rows of one group share a run', () => {
  const rows = [0, 1, 0, 1, 0].map((group, age) => ({ length: 9, age, group }));
  expect(pickBatch(rows, { tokens: 256, padding: 0.25 }).map(({ age }) => age)).toEqual([0, 2, 4]);
  expect(pickBatch(rows.slice(1), { tokens: 256, padding: 0.25 }).map(({ age }) => age)).toEqual([1, 3]);
});
