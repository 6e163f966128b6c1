import { writeField, writeNumber } from '../../onnx/protobuf.js';
import { finiteFloat, integer, tensorSize } from './numbers.js';
import { ELEMENTS } from './tensors.js';

/** Constants of a graph; equal ones are written once. All throw GraphError for what is no such number. */
export interface Constants {
  /** int64 [values], or a scalar with `dims` empty. @throws GraphError for fractions, as of a width and its heads */
  ints(values: readonly number[], dims?: readonly number[]): string;
  /** float32 [values], or a scalar with `dims` empty. */
  floats(values: ArrayLike<number>, dims?: readonly number[]): string;
  /** float32 scalar */
  scalar(value: number): string;
}

/** What the names of constants begin with, which no tensor of a checkpoint does. */
export const CONSTANT = 'slipway.constant.';

export function createConstants(write: (tensor: Uint8Array) => void): Constants {
  const known = new Map<string, string>();
  const add = (element: number, raw: Buffer, dims: readonly number[]): string => {
    const key = `${element} ${dims.join('x')} ${raw.toString('base64')}`;
    const name = known.get(key) ?? `${CONSTANT}${known.size}`;
    if (known.has(key)) return name;
    known.set(key, name);
    const sizes = dims.map((size) => writeNumber(1, tensorSize(size)));
    write(Buffer.concat([...sizes, writeNumber(2, element), writeField(8, name), writeField(9, raw)]));
    return name;
  };
  const floats: Constants['floats'] = (values, dims = [values.length]) =>
    add(ELEMENTS.float32, Buffer.from(Float32Array.from(values, finiteFloat).buffer), dims);
  return {
    floats,
    ints: (values, dims = [values.length]) =>
      add(
        ELEMENTS.int64,
        Buffer.from(BigInt64Array.from(values, (value) => BigInt(integer(value))).buffer),
        dims,
      ),
    scalar: (value) => floats([value], []),
  };
}
