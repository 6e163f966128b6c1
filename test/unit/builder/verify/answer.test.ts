import { differenceOf } from '../../../../builder/verify/answer.js';

test.each([
  [1, 1.0009],
  [0.5, 0.5009],
  [2000, 2001.9],
  [[{ label: 'a', score: 0.9 }], [{ label: 'a', score: 0.9003 }]],
  [null, null],
  [{ a: [] }, { a: [] }],
])('%j and %j are the same', (wanted, found) => expect(differenceOf(found, wanted)).toBeUndefined());

test.each([
  [1, 1.0011, 'the answer is 1.0011, and was 1'],
  [{ output: [{ score: 0.5 }] }, { output: [{ score: 0.6 }] }, '.output[0].score is 0.6, and was 0.5'],
  [{ a: 'x' }, { a: 'y' }, '.a is "y", and was "x"'],
  [{ a: 1 }, { a: '1' }, '.a is "1", and was 1'],
  [{ a: 1 }, { b: 1 }, '.a is nothing, and was 1'],
  [{ a: 1 }, { a: 1, b: 2 }, 'the answer is {"a":1,"b":2}, and was {"a":1}'],
  [[1], [1, 2], 'the answer is [1,2], and was [1]'],
  [[], {}, 'the answer is {}, and was []'],
  [null, 0, 'the answer is 0, and was null'],
  [0, null, 'the answer is null, and was 0'],
])('%j and %j differ', (wanted, found, message) => expect(differenceOf(found, wanted)).toBe(message));
