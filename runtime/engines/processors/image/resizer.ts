import { finish } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import type { Json } from '../../repository/model-folder.js';
import { asPythonSees, edgesAsPythonSees } from './image-processor.js';
import { resizeLikePillow } from './pillow-resize.js';
import type { Edges } from './sizes.js';
import { resizedLikeTorch } from './torch-resize.js';

/** How a class of Python sees and resizes images. */
export interface Resizer {
  /** @throws RunError 422 an image whose edge Python takes for its colours */
  seen(image: Image): Image;
  /** The edges of what `seen` gives. @throws as `seen` */
  edges(size: Edges): Edges;
  resize(image: Image, to: Edges): Image;
}

const BICUBIC = 3;

const resampleOf = (config: Json): number => (config['resample'] ?? BICUBIC) as number;

/** Of classes that resize tensors alone, whatever their name. */
export const torchResizer = (config: Json): Resizer => ({
  seen: (image) => image,
  edges: ({ height, width }) => ({ height, width }),
  resize: (image, to) => finish(resizedLikeTorch(image, to, resampleOf(config))),
});

/** Classes named …Fast resize tensors as PyTorch does, others as Pillow. @param config preprocessor_config.json */
export function resizerOf(config: Json): Resizer {
  if (String(config['image_processor_type'] ?? '').endsWith('Fast')) return torchResizer(config);
  const resample = resampleOf(config);
  return {
    seen: asPythonSees,
    edges: edgesAsPythonSees,
    resize: (image, { width, height }) => resizeLikePillow(image, width, height, resample),
  };
}
