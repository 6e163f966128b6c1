import { finish } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import type { Json } from '../../repository/model-folder.js';
import { asPythonSees, edgesAsPythonSees } from './image-processor.js';
import { resizeLikePillow } from './pillow-resize.js';
import type { Edges } from './sizes.js';
import { resizedLikeTorch, torchFilter } from './torch-resize.js';

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

/** Of classes that resize tensors alone, whatever their name. @throws RunError `not_ready` for a filter that tensors don't have */
export function torchResizer(config: Json): Resizer {
  const resample = torchFilter(config, BICUBIC);
  return {
    seen: (image) => image,
    edges: ({ height, width }) => ({ height, width }),
    resize: (image, to) => finish(resizedLikeTorch(image, to, resample)),
  };
}

/** Classes named …Fast resize tensors as PyTorch does, others as Pillow. @param config preprocessor_config.json @throws as `torchResizer` */
export function resizerOf(config: Json): Resizer {
  if (String(config['image_processor_type'] ?? '').endsWith('Fast')) return torchResizer(config);
  const resample = resampleOf(config);
  return {
    seen: asPythonSees,
    edges: edgesAsPythonSees,
    resize: (image, { width, height }) => resizeLikePillow(image, width, height, resample),
  };
}
