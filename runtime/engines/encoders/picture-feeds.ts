import type { Port, TensorLike, Tensors } from '../sessions/tensors.js';
import type { ProcessedImage } from '../processors/image/image-processor.js';

/** What the graph takes of a picture: `pixel_values` [1, 3, h, w], and `pixel_mask` [1, h, w] where it has such an input. */
export function pictureFeeds(inputs: readonly Port[], image: ProcessedImage): Tensors {
  const { values, height, width } = image;
  const mask = inputs.find(({ name }) => name === 'pixel_mask');
  return {
    pixel_values: { type: 'float32', data: values, dims: [1, 3, height, width] },
    ...(mask ? { pixel_mask: maskOf(mask, image) } : {}),
  };
}

/** 1 for the picture, 0 for its padding. */
function maskOf({ type }: Port, { height, width, content }: ProcessedImage): TensorLike {
  const ones = new Uint8Array(height * width);
  for (let y = 0; y < content.height; y++) ones.fill(1, y * width, y * width + content.width);
  return { type, data: masked(type, ones), dims: [1, height, width] };
}

function masked(type: string, ones: Uint8Array): TensorLike['data'] {
  if (type === 'int64') return BigInt64Array.from(ones, BigInt);
  if (type === 'int32') return Int32Array.from(ones);
  return type === 'float32' ? Float32Array.from(ones) : ones;
}
