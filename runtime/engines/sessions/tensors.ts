import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { RunError } from '../../core/errors.js';
import { halfBitsToNumber } from '../../core/half.js';
import { requireFinite, requireLogits } from '../../core/not-finite.js';

/** A tensor without its native side: it can cross threads. */
export interface TensorLike {
  readonly type: string;
  readonly data: Tensor['data'];
  readonly dims: readonly number[];
}

/** Tensors by the names of inputs or outputs. */
export type Tensors = Record<string, TensorLike>;

/** One input or output of a graph. */
export interface Port {
  name: string;
  /** Element type, e.g. `int64`, `float16`. */
  type: string;
  /** Numbers where fixed, names where free. */
  shape: readonly (number | string)[];
}

export function toOrtTensor({ type, data, dims }: TensorLike): Tensor {
  return new ort.Tensor(type as 'float32', data as Float32Array, dims);
}

/** Types other than int64 in which graphs want tokens, or a mask. */
export const NARROW_TYPES = { int32: Int32Array, float32: Float32Array, bool: Uint8Array };

/** [1, length]: 1 for the first `content`, 0 for what fills up, in the type that the graph declares. */
export function paddingMask(type: string, length: number, content: number): TensorLike {
  const Narrow = NARROW_TYPES[type as keyof typeof NARROW_TYPES] as Int32ArrayConstructor | undefined;
  const dims = [1, length];
  if (Narrow) return { type, data: new Narrow(length).fill(1, 0, content), dims };
  return { type: 'int64', data: new BigInt64Array(length).fill(1n, 0, content), dims };
}

/** Integers in the type that the graph declares for this input: int64 or int32, for masks also floats and truth values. */
export function integers(
  session: InferenceSession,
  name: string,
  values: number[] | BigInt64Array,
  dims: number[],
): Tensor {
  const type = typeOf(session, name);
  if (type !== undefined && type in NARROW_TYPES) {
    const Narrow = NARROW_TYPES[type as keyof typeof NARROW_TYPES] as Int32ArrayConstructor;
    return new ort.Tensor(type as 'int32', Narrow.from(values as number[], Number), dims);
  }
  const wide = values instanceof BigInt64Array ? values : BigInt64Array.from(values, BigInt);
  return new ort.Tensor('int64', wide, dims);
}

/** Element type that a graph declares for an input, e.g. `int64`, `float16`. */
export function typeOf(session: InferenceSession, name: string): string | undefined {
  const input = session.inputMetadata.find((entry) => entry.name === name);
  return input?.isTensor ? input.type : undefined;
}

/** Declared shape of an input: numbers where fixed, names where free. */
export function shapeOf(session: InferenceSession, name: string): readonly (number | string)[] {
  const input = session.inputMetadata.find((entry) => entry.name === name);
  return input?.isTensor ? input.shape : [];
}

/**
 * What a graph gives for one request: values of a float32 or float16 tensor as float32.
 * @throws RunError engine_failed for values that are not finite
 */
export const toFloat32 = (tensor: TensorLike): Float32Array => requireFinite(rawFloats(tensor));

/** As toFloat32, for scores before a softmax or sigmoid, where -Infinity is a mask. */
export const toLogits = (tensor: TensorLike): Float32Array => requireLogits(rawFloats(tensor));

/** As toFloat32, unchecked: for rows of several requests, of which each is checked by itself. */
export function rawFloats(tensor: TensorLike): Float32Array {
  if (tensor.type === 'float32') return tensor.data as Float32Array;
  if (tensor.type === 'float16') return halfToFloat(tensor.data);
  throw new RunError('engine_failed', `the graph answers ${tensor.type} where floats were expected`);
}

/** Half precision arrives as bits (Uint16Array) up to Node 22 and as Float16Array after. */
function halfToFloat(data: TensorLike['data']): Float32Array {
  if (!(data instanceof Uint16Array)) return Float32Array.from(data as unknown as ArrayLike<number>);
  return Float32Array.from(data, halfBitsToNumber);
}
