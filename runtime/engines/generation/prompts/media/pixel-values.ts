import type { Edges } from '../../../processors/image/sizes.js';
import type { Tensors } from '../../../sessions/tensors.js';

/** What an encoder reads of one image or tile. @param values [3, height, width] */
export const pixelValues = (values: Float32Array, { height, width }: Edges): Tensors => ({
  pixel_values: { type: 'float32', data: values, dims: [1, 3, height, width] },
});
