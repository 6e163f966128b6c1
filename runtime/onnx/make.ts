import { writeField, writeNumber } from './protobuf.js';

/** Parts of graphs to be put into others: types, constants (contents of TensorProto) and attributes (fields of NodeProto). */

/** A type of this element and no stated shape. */
export function typeOfElements(element: number): Uint8Array {
  return writeField(1, writeNumber(1, element));
}

/** An int64 constant: a vector, or with no dimension a scalar. */
export function int64Tensor(name: string, values: readonly number[], dims = [values.length]): Uint8Array {
  return Buffer.concat([
    ...dims.map((size) => writeNumber(1, size)),
    writeNumber(2, 7),
    writeField(8, name),
    writeField(9, Buffer.from(BigInt64Array.from(values, BigInt).buffer)),
  ]);
}

/** An integer attribute of a node, as a field of NodeProto. */
export function intAttribute(name: string, value: number): Uint8Array {
  return writeField(5, writeField(1, name), writeNumber(3, value), writeNumber(20, 2));
}

export function intsAttribute(name: string, values: readonly number[]): Uint8Array {
  return writeField(
    5,
    writeField(1, name),
    ...values.map((value) => writeNumber(8, value)),
    writeNumber(20, 7),
  );
}

export function floatScalar(name: string, value: number): Uint8Array {
  const raw = Buffer.from(Float32Array.of(value).buffer);
  return Buffer.concat([writeNumber(2, 1), writeField(8, name), writeField(9, raw)]);
}

/** uint8 [1, width] of ones. */
export function onesTensor(name: string, width: number): Uint8Array {
  return Buffer.concat([
    ...[writeNumber(1, 1), writeNumber(1, width), writeNumber(2, 2)],
    ...[writeField(8, name), writeField(9, Buffer.alloc(width, 1))],
  ]);
}
