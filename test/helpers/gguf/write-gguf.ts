import { ggmlTypeNamed } from '../../../runtime/gguf/blocks.js';

/** A value with its type in GGUF, by the names of its specification. */
export type Typed =
  | { type: keyof typeof SCALARS; value: number | bigint | boolean }
  | { type: 'string'; value: string }
  | {
      type: 'list';
      of: keyof typeof SCALARS | 'string';
      value: readonly (number | bigint | boolean | string)[];
    }
  /** A type by its number, and bytes. */
  | { type: number; bytes: Buffer };

const SCALARS = {
  u8: 0,
  i8: 1,
  u16: 2,
  i16: 3,
  u32: 4,
  i32: 5,
  f32: 6,
  bool: 7,
  u64: 10,
  i64: 11,
  f64: 12,
} as const;

export interface TensorToWrite {
  name: string;
  /** As in transformers: the fastest size last. */
  shape: readonly number[];
  /** Name of the type in ggml, or a number. */
  type: string | number;
  data: Uint8Array;
  /** Over what is written for the tensor. */
  offset?: bigint | number;
}

export interface GgufToWrite {
  metadata?: Readonly<Record<string, Typed | string | number | boolean>>;
  tensors?: readonly TensorToWrite[];
  version?: number;
  magic?: string;
  alignment?: number;
  /** Over what is counted. */
  tensorCount?: bigint | number;
  keyCount?: bigint | number;
}

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

export const u64 = (value: number | bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};

export const ggufString = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  return Buffer.concat([u64(bytes.length), bytes]);
};

function scalar(type: keyof typeof SCALARS, value: number | bigint | boolean): Buffer {
  const view = Buffer.alloc(8);
  const number = Number(value);
  const writers: Record<keyof typeof SCALARS, () => number> = {
    u8: () => view.writeUInt8(number),
    i8: () => view.writeInt8(number),
    u16: () => view.writeUInt16LE(number),
    i16: () => view.writeInt16LE(number),
    u32: () => view.writeUInt32LE(number),
    i32: () => view.writeInt32LE(number),
    f32: () => view.writeFloatLE(number),
    bool: () => view.writeUInt8(number),
    u64: () => view.writeBigUInt64LE(BigInt(value)),
    i64: () => view.writeBigInt64LE(BigInt(value)),
    f64: () => view.writeDoubleLE(number),
  };
  return view.subarray(0, writers[type]());
}

function typed(value: Typed | string | number | boolean): Typed {
  if (typeof value === 'string') return { type: 'string', value };
  if (typeof value === 'boolean') return { type: 'bool', value };
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'u32' : 'f32', value };
  return value;
}

function valueBytes(given: Typed | string | number | boolean): Buffer {
  const value = typed(given);
  if ('bytes' in value) return Buffer.concat([u32(value.type), value.bytes]);
  if (value.type === 'string') return Buffer.concat([u32(8), ggufString(value.value)]);
  if (value.type !== 'list')
    return Buffer.concat([u32(SCALARS[value.type]), scalar(value.type, value.value)]);
  const { of, value: list } = value;
  const items = list.map((one) => (of === 'string' ? ggufString(one as string) : scalar(of, one as number)));
  return Buffer.concat([u32(9), u32(of === 'string' ? 8 : SCALARS[of]), u64(list.length), ...items]);
}

const padded = (length: number, alignment: number): number => Math.ceil(length / alignment) * alignment;

/** A file of GGUF; what is wrong with it on purpose is in the options. */
export function writeGguf({
  metadata = {},
  tensors = [],
  version = 3,
  magic = 'GGUF',
  alignment = 32,
  ...counts
}: GgufToWrite): Buffer {
  const keys = Object.entries(metadata);
  const { tensorCount = tensors.length, keyCount = keys.length } = counts;
  const head = [Buffer.from(magic, 'latin1'), u32(version), u64(tensorCount), u64(keyCount)];
  const pairs = keys.map(([key, value]) => Buffer.concat([ggufString(key), valueBytes(value)]));
  let at = 0;
  const infos = tensors.map(({ name, shape, type, data, offset = at }) => {
    at += padded(data.length, alignment);
    const number = typeof type === 'number' ? type : ggmlTypeNamed(type)!.number;
    const sizes = shape.toReversed().map(u64);
    return Buffer.concat([ggufString(name), u32(shape.length), ...sizes, u32(number), u64(offset)]);
  });
  const header = Buffer.concat([...head, ...pairs, ...infos]);
  const fill = (length: number) => Buffer.alloc(padded(length, alignment) - length);
  const data = tensors.flatMap((tensor) => [Buffer.from(tensor.data), fill(tensor.data.length)]);
  return Buffer.concat([header, fill(header.length), ...data]);
}
