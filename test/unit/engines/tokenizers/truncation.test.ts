import { keptLengths, windowsOf } from '../../../../runtime/engines/tokenizers/truncation.js';

// Numbers of the Rust library (truncate_encodings, Encoding::truncate).
test.each([
  [[10, 4], 9, [5, 4]],
  [[4, 10], 9, [4, 5]],
  [[10, 10], 9, [4, 5]],
  [[11, 10], 9, [5, 4]],
  [[10, 4], 4, [2, 2]],
  [[3, 20], 2, [1, 1]],
  [[3, 4], 7, [3, 4]],
  [[3, 4], 0, [0, 0]],
] as const)('%j cut to %i, the longer one first', (lengths, room, expected) => {
  expect(keptLengths(lengths, room, 'longest_first')).toEqual(expected);
});

test('one side gives way, and says when it cannot', () => {
  expect(keptLengths([10, 4], 9, 'only_first')).toEqual([5, 4]);
  expect(keptLengths([10, 4], 11, 'only_second')).toEqual([10, 1]);
  expect(() => keptLengths([10, 4], 10, 'only_second')).toThrow(/longer than the model takes/);
  expect(() => keptLengths([10, undefined], 9, 'only_second')).toThrow(/longer than the model takes/);
});

test('windows share tokens, from the left or from the right', () => {
  const right = { size: 4, stride: 1, left: false };
  expect(windowsOf(9, right)).toEqual([
    [0, 4],
    [3, 7],
    [6, 9],
  ]);
  expect(windowsOf(10, right)).toEqual([
    [0, 4],
    [3, 7],
    [6, 10],
  ]);
  expect(windowsOf(9, { ...right, left: true })).toEqual([
    [5, 9],
    [2, 6],
    [0, 3],
  ]);
  expect(windowsOf(4, right)).toEqual([[0, 4]]);
  expect(windowsOf(9, { size: 4, left: true })).toEqual([[5, 9]]);
  expect(() => windowsOf(9, { ...right, stride: 4 })).toThrow(/can't share 4/);
});
