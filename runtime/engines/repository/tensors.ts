import { RunError } from '../../core/errors.js';
import { halfBitsToNumber } from '../../core/half.js';
import {
  localFiles,
  readWeightIndex,
  type RangeSource,
  type StoredTensor,
  WeightsError,
} from '../../weights/index.js';

/**
 * The tensors of a small checkpoint (model.safetensors, else pytorch_model.bin) as float32.
 * @param folder of the checkpoint, in the model's folder `dir`
 * @throws RunError not_ready
 */
export async function readTensors(dir: string, folder: string): Promise<Map<string, Float32Array>> {
  const source = await localFiles(dir, folder);
  const tensors = new Map<string, Float32Array>();
  try {
    const index = await readWeightIndex(source, { folder });
    for (const [name, tensor] of index) tensors.set(name, await readTensor(source, name, tensor));
  } catch (cause) {
    throw cause instanceof WeightsError ? new RunError('not_ready', cause.message, { cause }) : cause;
  }
  return tensors;
}

async function readTensor(source: RangeSource, name: string, tensor: StoredTensor): Promise<Float32Array> {
  const { file, offset, length, type } = tensor;
  const read = READERS[type];
  if (!read) throw new RunError('not_ready', `${file} holds ${name} as ${type}, which is not read`);
  const bytes = await source.read(file, offset, length);
  return read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
}

/** One read per value: the data need not lie on a border that a typed array could start at. */
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
