import { attributeField, float } from '../../../runtime/models/writer/attributes.js';
import { bytesReader, contentText, type Field, fieldsOf } from '../../../runtime/onnx/protobuf.js';

/** Name, type and contents of an AttributeProto, as onnx.proto numbers its fields. */
function read(bytes: Uint8Array) {
  const reader = bytesReader(bytes);
  const [whole] = fieldsOf(reader);
  const fields = [...fieldsOf(reader, whole!.start, whole!.end)];
  const of = (number: number) => fields.filter((field) => field.number === number);
  return {
    name: contentText(reader, of(1)[0]!),
    type: int64(bytes, of(20)[0]!),
    floats: of(2).map(({ start }) => Buffer.from(bytes).readFloatLE(start)),
    ints: [...of(3), ...of(8)].map((field) => int64(bytes, field)),
    texts: of(4).map((field) => contentText(reader, field)),
  };
}

/** All 64 bits of a varint, as one with a sign. */
function int64(bytes: Uint8Array, { start, end }: Field): bigint {
  const digits = [...bytes.subarray(start, end)].map((byte, i) => BigInt(byte & 0x7f) << BigInt(7 * i));
  return BigInt.asIntN(
    64,
    digits.reduce((sum, digit) => sum | digit, 0n),
  );
}

test.each([0, 1, 127, 128, -1, -2, -128, 2 ** 31, -(2 ** 31), 2 ** 53 - 1, -(2 ** 53 - 1)])(
  'the integer %d, alone and in a list',
  (value) => {
    const none = { floats: [], texts: [] };
    expect(read(attributeField('axis', value))).toEqual({
      ...{ name: 'axis', type: 2n, ints: [BigInt(value)], ...none },
    });
    expect(read(attributeField('axes', [value, 3, value]))).toEqual({
      ...{ name: 'axes', type: 7n, ints: [BigInt(value), 3n, BigInt(value)], ...none },
    });
  },
);

test('texts, and floats that are whole', () => {
  expect(read(attributeField('mode', 'cubic'))).toMatchObject({ type: 3n, texts: ['cubic'], ints: [] });
  expect(read(attributeField('alpha', float(1)))).toMatchObject({ type: 1n, floats: [1], ints: [] });
  expect(read(attributeField('alpha', float(-0.75)))).toMatchObject({ type: 1n, floats: [-0.75] });
});
