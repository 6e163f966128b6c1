import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunError } from '../../core/errors.js';

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

/** The float32 tensors of a small safetensors file (8-byte header length, JSON header, data). */
export async function readSafetensors(dir: string, name: string): Promise<Map<string, Float32Array>> {
  const bytes = await readFile(join(dir, name));
  const start = 8 + Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString('utf8', 8, start)) as Record<string, Entry>;
  const tensors = new Map<string, Float32Array>();
  for (const [key, entry] of Object.entries(header)) {
    if (key === '__metadata__') continue;
    if (entry.dtype !== 'F32')
      throw new RunError('not_ready', `${name} holds ${entry.dtype}, only F32 is read`);
    const [from, to] = entry.data_offsets;
    // A copy, because the data need not lie on a 4-byte border of the file.
    const copy = Uint8Array.prototype.slice.call(bytes, start + from, start + to);
    tensors.set(key, new Float32Array(copy.buffer, copy.byteOffset, copy.byteLength / 4));
  }
  return tensors;
}
