import { bitsOf } from '../../core/half.js';
import type { TensorLike } from './tensors.js';

/** Half precision is kept as bits. */
export type Elements = Float32Array | Uint16Array;

export const elementBytes = (type: string): number => (type === 'float16' ? 2 : 4);

export function elements(type: string, count: number): Elements {
  return type === 'float16' ? new Uint16Array(count) : new Float32Array(count);
}

export function elementsOf({ type, data }: TensorLike): Elements {
  return type === 'float16' ? bitsOf(data as unknown as Uint16Array) : (data as Float32Array);
}
