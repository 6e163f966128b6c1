import { type TensorLike, toLogits } from '../../sessions/tensors.js';

/** Values [width] of one position of a tensor [1, positions, width], converted without the others. */
export function vectorAt({ data, dims, type }: TensorLike, at: number): Float32Array {
  const width = dims[2]!;
  const part = (data as Float32Array).subarray(at * width, (at + 1) * width);
  return toLogits({ type, data: part, dims: [width] });
}
