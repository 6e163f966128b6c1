import {
  numbersOf,
  shapeKey,
  splitRows,
  stackRows,
} from '../../../../runtime/engines/batching/tensor-rows.js';
import type { Tensors } from '../../../../runtime/engines/sessions/tensors.js';

const image = (values: number[], dims: number[]) => ({
  type: 'float32',
  data: Float32Array.from(values),
  dims,
});
const mask = (values: number[], dims: number[]) => ({
  type: 'int64',
  data: BigInt64Array.from(values, BigInt),
  dims,
});
const row = (first: number): Tensors => ({
  pixel_values: image([first, first + 1], [1, 1, 2]),
  pixel_mask: mask([1], [1, 1]),
});

test('rows share a run where all but the number of rows is the same, in whatever order inputs are named', () => {
  const { pixel_mask, pixel_values } = row(5);
  expect(shapeKey(row(1))).toBe(shapeKey({ pixel_mask: pixel_mask!, pixel_values: pixel_values! }));
  expect(shapeKey(row(1))).toBe(shapeKey({ ...row(2), pixel_mask: mask([1, 1], [2, 1]) }));
  expect(shapeKey(row(1))).not.toBe(shapeKey({ ...row(1), pixel_values: image([1, 2], [1, 2, 1]) }));
  expect(shapeKey(row(1))).not.toBe(shapeKey({ ...row(1), pixel_mask: image([1], [1, 1]) }));
  expect(shapeKey(row(1))).not.toBe(shapeKey({ pixel_values: pixel_values! }));
});

test('a row is as large as all that it gives the graph', () => {
  expect(numbersOf(row(1))).toBe(3);
});

test('every input of the rows is put one after the other', () => {
  expect(stackRows([row(1), row(5), row(9)])).toEqual({
    pixel_values: image([1, 2, 5, 6, 9, 10], [3, 1, 2]),
    pixel_mask: mask([1, 1, 1], [3, 1]),
  });
});

test('a row by itself is handed on as it is', () => {
  const one = row(1);
  expect(stackRows([one])).toBe(one);
  const outputs = { logits: image([1, 2], [1, 2]) };
  expect(splitRows(outputs, [one])[0]).toBe(outputs);
});

test('each row gets its part of every output', () => {
  const outputs = {
    logits: image([1, 2, 3, 4, 5, 6], [3, 2]),
    pred_masks: mask([7, 8, 9], [3, 1, 1]),
  };
  expect(splitRows(outputs, [row(1), row(5), row(9)])).toEqual([
    { logits: image([1, 2], [1, 2]), pred_masks: mask([7], [1, 1, 1]) },
    { logits: image([3, 4], [1, 2]), pred_masks: mask([8], [1, 1, 1]) },
    { logits: image([5, 6], [1, 2]), pred_masks: mask([9], [1, 1, 1]) },
  ]);
});

test('what counts as several rows gets as many back', () => {
  const two = { pixel_values: image([1, 2, 3, 4], [2, 1, 2]) };
  const one = { pixel_values: image([5, 6], [1, 1, 2]) };
  expect(stackRows([two, one])).toEqual({ pixel_values: image([1, 2, 3, 4, 5, 6], [3, 1, 2]) });
  expect(splitRows({ logits: image([1, 2, 3], [3, 1]) }, [two, one])).toEqual([
    { logits: image([1, 2], [2, 1]) },
    { logits: image([3], [1, 1]) },
  ]);
});

test('an output that does not count rows can’t be given to them', () => {
  const outputs = { logits_per_image: image([1, 2, 3, 4], [2, 2]), scale: image([1], [1]) };
  expect(() => splitRows(outputs, [row(1), row(5)])).toThrow('output scale has no axis of 2 rows');
});
