import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelTensor } from '../../helpers/gguf/from-model.js';

/** All tensors of the safetensors files of a folder. */
export function readCheckpoint(folder: string): Map<string, ModelTensor> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.safetensors'));
  return new Map(files.flatMap((file) => [...tensorsOf(readFileSync(join(folder, file)))]));
}

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

function* tensorsOf(bytes: Buffer): Generator<[string, ModelTensor]> {
  const length = Number(bytes.readBigUInt64LE());
  const { __metadata__: _, ...header } = JSON.parse(bytes.toString('utf8', 8, 8 + length)) as {
    __metadata__?: unknown;
  } & Record<string, Entry>;
  const data = bytes.subarray(8 + length);
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(header))
    yield [name, { type: dtype, shape, bytes: Uint8Array.from(data.subarray(...data_offsets)) }];
}
