import type { Steps } from '../../../core/steps.js';
import { RunError } from '../../../core/errors.js';
import type { Picture } from '../../../media/picture.js';
import { plainResize, type ResizeSettings } from './geometry.js';
import { resizeSteps } from './pillow-resize.js';
import { type Edges, largestWithin, multipleBelow, shortestEdgeWithin } from './sizes.js';

/** DETR and those that resize like it. */
export function* detrResize(picture: Picture, settings: ResizeSettings): Steps<Picture> {
  return yield* resizeTo(picture, detrSize(picture, settings), settings);
}

/** Patches of YOLOS, in pixels. */
const YOLOS_MULTIPLE = 16;

/** YOLOS cuts both edges to multiples of 16 where the aspect ratio is kept. */
export function* yolosResize(picture: Picture, settings: ResizeSettings): Steps<Picture> {
  const size = detrSize(picture, settings);
  const isCut = 'shortest_edge' in settings.size;
  return yield* resizeTo(picture, isCut && size ? multipleBelow(size, YOLOS_MULTIPLE) : size, settings);
}

/** Undefined: a size that all processors read alike. */
export function detrSize(picture: Edges, { size }: ResizeSettings): Edges | undefined {
  if ('shortest_edge' in size) return shortestEdgeWithin(picture, size.shortest_edge, size.longest_edge);
  if ('max_height' in size) return largestWithin(picture, { height: size.max_height, width: size.max_width });
  return undefined;
}

function* resizeTo(picture: Picture, size: Edges | undefined, settings: ResizeSettings): Steps<Picture> {
  if (!size) return yield* plainResize(picture, settings);
  if (size.height > 0 && size.width > 0)
    return yield* resizeSteps(picture, size.width, size.height, settings.resample);
  throw new RunError('unprocessable', 'the picture is too narrow for this model');
}
