import {
  bytesReader,
  contentBytes,
  contentText,
  type Field,
  fieldsOf,
  packedIntegers,
  varint,
  writeField,
  writeNumber,
} from '../../../runtime/onnx/protobuf.js';

/** Where the bytes of a tensor lie outside of its graph. */
export interface Place {
  file: string;
  offset: number;
  length: number;
}

/** A constant of a graph. Field numbers are those of TensorProto. */
export interface Tensor {
  name: string;
  dims: readonly number[];
  /** TensorProto.DataType */
  type: number;
  place?: Place | undefined;
  /** Fields with its values, where those lie in the graph. */
  values: readonly Uint8Array[];
}

export const FLOAT = 1;

const [DIMS, TYPE, NAME, RAW, EXTERNAL, LOCATION] = [1, 2, 8, 9, 13, 14];
/** Values: floats, int32s, strings, int64s, raw bytes, doubles, uint64s. */
const VALUES: ReadonlySet<number> = new Set([4, 5, 6, 7, RAW, 10, 11]);

export function readTensor(bytes: Uint8Array): Tensor {
  const reader = bytesReader(bytes);
  const tensor = { name: '', dims: [] as number[], type: 0, values: [] as Uint8Array[] };
  const place: Record<string, string> = {};
  for (const field of fieldsOf(reader)) {
    if (field.number === DIMS) tensor.dims.push(...integers(bytes, field));
    else if (field.number === TYPE) tensor.type = varint(reader, field.start).value;
    else if (field.number === NAME) tensor.name = contentText(reader, field);
    else if (VALUES.has(field.number)) tensor.values.push(bytes.subarray(field.from, field.end));
    else if (field.number === EXTERNAL) Object.assign(place, pairOf(bytes, field));
  }
  if (place['location'] === undefined) return tensor;
  const [offset = 0, length = NaN] = [place['offset'], place['length']].map((text) =>
    text === undefined ? undefined : Number(text),
  );
  return { ...tensor, place: { file: place['location'], offset, length } };
}

/** Names of nothing but what it is. */
export function writeTensor({ name, dims, type, place, values }: Tensor): Uint8Array {
  return Buffer.concat([
    ...dims.map((size) => writeNumber(DIMS, size)),
    writeNumber(TYPE, type),
    writeField(NAME, name),
    ...(place ? placeFields(place) : values),
  ]);
}

/** The bytes of a tensor as a field of it. */
export const rawValues = (bytes: Uint8Array): Uint8Array => writeField(RAW, bytes);

function placeFields({ file, offset, length }: Place): Uint8Array[] {
  const entry = (key: string, value: string) =>
    writeField(EXTERNAL, writeField(1, key), writeField(2, value));
  return [
    ...[entry('location', file), entry('offset', String(offset)), entry('length', String(length))],
    writeNumber(LOCATION, 1),
  ];
}

/** Several in one field, or one in each. */
function integers(bytes: Uint8Array, field: Field): number[] {
  const reader = bytesReader(bytes);
  if (field.wire === 0) return [varint(reader, field.start).value];
  return packedIntegers(reader, field);
}

function pairOf(bytes: Uint8Array, { start, end }: Field): Record<string, string> {
  const reader = bytesReader(bytes);
  const [key = '', value = ''] = Array.from(fieldsOf(reader, start, end), (part) =>
    Buffer.from(contentBytes(reader, part)).toString(),
  );
  return { [key]: value };
}
