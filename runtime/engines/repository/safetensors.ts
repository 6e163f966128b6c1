import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunError } from '../../core/errors.js';
import { halfBitsToNumber } from '../../core/half.js';

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

/** The tensors of a small safetensors file (8-byte header length, JSON header, data) as float32. */
export async function readSafetensors(dir: string, name: string): Promise<Map<string, Float32Array>> {
  const bytes = await readFile(join(dir, name));
  const start = 8 + Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString('utf8', 8, start)) as Record<string, Entry>;
  const tensors = new Map<string, Float32Array>();
  for (const [key, entry] of Object.entries(header)) {
    if (key === '__metadata__') continue;
    const read = READERS[entry.dtype];
    if (!read) throw new RunError('not_ready', `${name} holds ${entry.dtype}, which is not read`);
    const [from, to] = entry.data_offsets;
    tensors.set(key, read(bytes.subarray(start + from, start + to)));
  }
  return tensors;
}

/** One read per value: the data need not lie on a border of the file that a typed array could start at. */
const READERS: Record<string, (data: Buffer) => Float32Array> = {
  F32: (data) => values(data, 4, (at) => data.readFloatLE(at)),
  F64: (data) => values(data, 8, (at) => data.readDoubleLE(at)),
  F16: (data) => values(data, 2, (at) => halfBitsToNumber(data.readUInt16LE(at))),
  BF16: (data) => values(data, 2, (at) => bfloat(data.readUInt16LE(at))),
};

function values(data: Buffer, size: number, read: (at: number) => number): Float32Array {
  return Float32Array.from({ length: data.length / size }, (_, i) => read(i * size));
}

/** The upper half of a float32. */
function bfloat(bits: number): number {
  return new Float32Array(Uint32Array.of(bits << 16).buffer)[0]!;
}
