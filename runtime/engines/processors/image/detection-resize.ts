import type { Steps } from '../../../core/steps.js';
import { RunError } from '../../../core/errors.js';
import type { Image } from '../../../media/decoded-image.js';
import { plainResize, type ResizeSettings } from './geometry.js';
import { resizeSteps } from './pillow-resize.js';
import { type Edges, largestWithin, multipleBelow, shortestEdgeWithin } from './sizes.js';

/** DETR and those that resize like it. */
export function* detrResize(image: Image, settings: ResizeSettings): Steps<Image> {
  return yield* resizeTo(image, detrSize(image, settings), settings);
}

/** Patches of YOLOS, in pixels. */
const YOLOS_MULTIPLE = 16;

/** YOLOS cuts both edges to multiples of 16 where the aspect ratio is kept. */
export function* yolosResize(image: Image, settings: ResizeSettings): Steps<Image> {
  const size = detrSize(image, settings);
  const isCut = 'shortest_edge' in settings.size;
  return yield* resizeTo(image, isCut && size ? multipleBelow(size, YOLOS_MULTIPLE) : size, settings);
}

/** Undefined: a size that all processors read alike. */
export function detrSize(image: Edges, { size }: ResizeSettings): Edges | undefined {
  if ('shortest_edge' in size) return shortestEdgeWithin(image, size.shortest_edge, size.longest_edge);
  if ('max_height' in size) return largestWithin(image, { height: size.max_height, width: size.max_width });
  return undefined;
}

function* resizeTo(image: Image, size: Edges | undefined, settings: ResizeSettings): Steps<Image> {
  if (!size) return yield* plainResize(image, settings);
  if (size.height > 0 && size.width > 0)
    return yield* resizeSteps(image, size.width, size.height, settings.resample);
  throw new RunError('unprocessable', 'the image is too narrow for this model');
}
