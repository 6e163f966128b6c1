import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type GgufValue, readGgufHeader } from '../../../runtime/gguf/index.js';
import { rangeFile } from '../../../runtime/weights/read-ranges.js';
import { type TensorToWrite, type Typed, writeGguf } from './write-gguf.js';

export type Value = Typed | string | number | boolean;

export interface GgufParts {
  metadata: Record<string, Value>;
  tensors: TensorToWrite[];
}

/** A file of GGUF as it is written: keys that are changed, and tensors. */
export async function readGgufParts(path: string): Promise<GgufParts> {
  const bytes = readFileSync(path);
  const file = { path: basename(path), size: bytes.length };
  const source = {
    files: [file],
    read: async (_: string, at: number, length: number) => bytes.subarray(at, at + length),
  };
  const { metadata, tensors } = await readGgufHeader(rangeFile(source, file));
  return {
    metadata: Object.fromEntries([...metadata].map(([key, value]) => [key, written(value)])),
    tensors: tensors.map(({ name, shape, type, offset, length }) => ({
      ...{ name, shape, type, data: bytes.subarray(offset, offset + length) },
    })),
  };
}

function written(value: GgufValue): Value {
  if (value instanceof Float32Array) return { type: 'list', of: 'f32', value: [...value] };
  if (value instanceof Int32Array) return { type: 'list', of: 'i32', value: [...value] };
  if (typeof value === 'bigint') return { type: 'u64', value };
  if (typeof value !== 'object') return value;
  return { type: 'list', of: typeof value[0] === 'boolean' ? 'bool' : 'string', value };
}

export const rewritten = ({ metadata, tensors }: GgufParts): Buffer => writeGguf({ metadata, tensors });
