import { writeField, writeNumber } from '../../onnx/protobuf.js';
import { tensorSize } from './numbers.js';

/** TensorProto.DataType of what graphs compute with. */
export const ELEMENTS = { float32: 1, int32: 6, int64: 7, bool: 9 } as const;
export type ElementName = keyof typeof ELEMENTS;

/** TensorProto.DataType of floats of 16 bits with float32's range. */
export const BFLOAT16 = 16;

/** TensorProto.DataType of the types that weights are stored in and graphs can read. */
const STORED: Readonly<Record<string, number>> = { F32: 1, F16: 10, F64: 11, BF16: BFLOAT16 };

export const isReadable = (type: string): boolean => Object.hasOwn(STORED, type);

/** TensorProto.DataType of a type that weights are stored in. */
export const storedElement = (type: string): number => STORED[type]!;

export const UINT8 = 2;

/** Where bytes lie, relative to the repository. */
export interface Place {
  file: string;
  offset: number;
  length: number;
}

export interface ExternalTensor {
  name: string;
  /** TensorProto.DataType */
  element: number;
  shape: readonly number[];
  place: Place;
}

/** A tensor in a file as an initializer: its place, no data. */
export function externalTensor({ name, element, shape, place }: ExternalTensor): Uint8Array {
  const entry = (key: string, value: string | number) =>
    writeField(13, writeField(1, key), writeField(2, String(value)));
  return Buffer.concat([
    ...shape.map((size) => writeNumber(1, size)),
    writeNumber(2, element),
    writeField(8, name),
    entry('location', place.file),
    entry('offset', place.offset),
    entry('length', place.length),
    // data_location: EXTERNAL
    writeNumber(14, 1),
  ]);
}

/** Content of a TypeProto: a tensor of this element and shape. @throws GraphError for sizes that are none */
export function shapedType(element: number, shape: readonly (number | string)[]): Uint8Array {
  const dims = shape.map((size) =>
    writeField(1, typeof size === 'number' ? writeNumber(1, tensorSize(size)) : writeField(2, size)),
  );
  return writeField(1, writeNumber(1, element), writeField(2, ...dims));
}
