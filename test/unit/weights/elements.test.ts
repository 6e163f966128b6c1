import { byteLength, elementsOf } from '../../../runtime/weights/elements.js';
import { quoted } from '../../../runtime/weights/errors.js';

/** Bytes of sixteen elements, as the names of the types say them. */
test.each([
  [8, ['F4']],
  [12, ['F6_E2M3', 'F6_E3M2']],
  [16, ['BOOL', 'U8', 'I8', 'F8_E5M2', 'F8_E4M3', 'F8_E8M0', 'F8_E4M3FNUZ', 'F8_E5M2FNUZ']],
  [32, ['I16', 'U16', 'F16', 'BF16']],
  [64, ['I32', 'U32', 'F32']],
  [128, ['I64', 'U64', 'F64', 'C64']],
  [256, ['C128']],
])('%d bytes: %j', (bytes, types) => {
  for (const type of types) expect([type, byteLength(type, [2, 8])]).toEqual([type, bytes]);
});

test('scalars, empty tensors, and what has no length', () => {
  expect(byteLength('F32', [])).toBe(4);
  expect(byteLength('F32', [3, 0])).toBe(0);
  expect(byteLength('F4', [3])).toBeUndefined();
  expect(byteLength('F5', [2])).toBeUndefined();
  expect(byteLength('F64', [2 ** 51])).toBeUndefined();
  expect(elementsOf([2 ** 30, 2 ** 30])).toBeUndefined();
  // As in the reference implementation, where a product overflows before it becomes zero.
  expect(elementsOf([2 ** 30, 2 ** 30, 0])).toBeUndefined();
  expect(elementsOf([0, 2 ** 30, 2 ** 30])).toBe(0);
});

test('untrusted names in messages are short and printable', () => {
  expect(quoted('a'.repeat(120))).toBe(`"${'a'.repeat(120)}"`);
  expect(quoted('a'.repeat(121))).toBe(`"${'a'.repeat(120)}…"`);
  expect(quoted('a\x1b[2J"')).toBe('"a\\\\u{1b}[2J\\""');
});
