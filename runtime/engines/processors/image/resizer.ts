import { finish } from '../../../core/steps.js';
import type { Picture } from '../../../media/picture.js';
import type { Json } from '../../repository/model-folder.js';
import { asPythonSees, edgesAsPythonSees } from './image-processor.js';
import { resizeLikePillow } from './pillow-resize.js';
import type { Edges } from './sizes.js';
import { resizedLikeTorch } from './torch-resize.js';

/** How a class of Python sees and resizes pictures. */
export interface Resizer {
  /** @throws RunError 422 a picture whose edge Python takes for its colours */
  seen(picture: Picture): Picture;
  /** The edges of what `seen` gives. @throws as `seen` */
  edges(size: Edges): Edges;
  resize(picture: Picture, to: Edges): Picture;
}

const BICUBIC = 3;

/** Classes named …Fast resize tensors as PyTorch does, others as Pillow. @param config preprocessor_config.json */
export function resizerOf(config: Json): Resizer {
  const resample = (config['resample'] ?? BICUBIC) as number;
  if (String(config['image_processor_type'] ?? '').endsWith('Fast'))
    return {
      seen: (picture) => picture,
      edges: ({ height, width }) => ({ height, width }),
      resize: (picture, to) => finish(resizedLikeTorch(picture, to, resample)),
    };
  return {
    seen: asPythonSees,
    edges: edgesAsPythonSees,
    resize: (picture, { width, height }) => resizeLikePillow(picture, width, height, resample),
  };
}
