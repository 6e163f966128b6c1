import path from 'node:path';
import { floatsOf, localFiles, readPart } from '../../weights/index.js';
import { rangeFile } from '../../weights/read-ranges.js';
import { readSafetensorsIndex } from '../../weights/safetensors.js';
import type { StoredTensor } from '../../weights/index.js';
import type { TensorLike } from '../sessions/tensors.js';
import { cacheName } from '../../onnx/exporter-names.js';
import type { Probe } from './difference.js';

/** Of the types that networks are fed with and give. */
const READERS: Readonly<Record<string, (bytes: Buffer) => Pick<TensorLike, 'type' | 'data'>>> = {
  F32: (bytes) => ({ type: 'float32', data: floatsOf(bytes, 'F32') }),
  I64: (bytes) => ({ type: 'int64', data: new BigInt64Array(copy(bytes)) }),
  I32: (bytes) => ({ type: 'int32', data: new Int32Array(copy(bytes)) }),
  BOOL: (bytes) => ({ type: 'bool', data: new Uint8Array(copy(bytes)) }),
};

/** Reads what export.py wrote: tensors named `0/in/input_ids`, `0/out/logits`, `0/real`. */
export async function readProbes(file: string): Promise<Probe[]> {
  const folder = path.dirname(file);
  const source = await localFiles(folder);
  const found = source.files.find(({ path: name }) => name === path.basename(file));
  if (!found) throw new Error(`${file} is missing`);
  const probes: Probe[] = [];
  for (const [name, stored] of await readSafetensorsIndex(rangeFile(source, found))) {
    const [number, side, ...rest] = name.split('/');
    const probe = (probes[Number(number)] ??= { inputs: {}, outputs: {}, real: { data: [], dims: [] } });
    const tensor = await readTensor(file, stored);
    if (side === 'real') probe.real = tensor as Probe['real'];
    else if (side === 'in') probe.inputs[cacheName(rest.join('/'), 'input')] = tensor;
    else probe.outputs[cacheName(rest.join('/'), 'output')] = tensor;
  }
  return probes;
}

async function readTensor(file: string, { type, offset, length, shape }: StoredTensor): Promise<TensorLike> {
  const read = READERS[type];
  if (!read) throw new Error(`${file}: tensors of ${type} are not read`);
  return { ...read(await readPart(file, offset, length)), dims: [...shape] };
}

const copy = (bytes: Buffer): ArrayBuffer =>
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
