import { encodedJson, encodeRows, isEncodedJson } from '../../../runtime/core/encoded-json.js';

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

test('every number of a byte is written as JSON does', () => {
  const values = Uint8Array.from({ length: 256 }, (_, i) => i);
  const rows = Array.from({ length: 16 }, (_, row) => [...values.subarray(row * 16, row * 16 + 16)]);
  expect(textOf(encodeRows(values, 16))).toBe(JSON.stringify(rows));
});

test.each([
  [[7], 1, '[[7]]'],
  [[0, 1, 1, 0], 2, '[[0,1],[1,0]]'],
  [[255, 100, 99], 1, '[[255],[100],[99]]'],
  [[], 3, '[]'],
])('%j in rows of %i', (values, width, text) => {
  expect(textOf(encodeRows(Uint8Array.from(values), width))).toBe(text);
});

test('pieces of text and bytes are one value', () => {
  const output = encodedJson(['{"é":', encodeRows(Uint8Array.of(1), 1), '}']);
  expect(isEncodedJson(output)).toBe(true);
  expect(Buffer.concat(output.encodedJson).toString()).toBe('{"é":[[1]]}');
});

test.each([null, undefined, 'text', 7, [], {}, { encoded: [] }])('%j is an ordinary output', (output) => {
  expect(isEncodedJson(output)).toBe(false);
});
