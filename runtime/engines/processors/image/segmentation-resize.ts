import type { Steps } from '../../../core/steps.js';
import type { Picture } from '../../../media/picture.js';
import { plainResize, type ResizeSettings } from './geometry.js';
import { resizeSteps } from './pillow-resize.js';
import { type Edges, multipleAbove } from './sizes.js';

/** MaskFormer and its relatives: the shortest edge within the longest, then both up to multiples of `size_divisor`. */
export function* maskFormerResize(
  picture: Picture,
  settings: ResizeSettings & { size_divisor: number },
): Steps<Picture> {
  const { size, size_divisor, resample } = settings;
  const wanted = 'height' in size ? size : 'shortest_edge' in size ? within(picture, size) : undefined;
  if (!wanted) return yield* plainResize(picture, settings);
  const { height, width } = size_divisor > 0 ? multipleAbove(wanted, size_divisor) : wanted;
  return yield* resizeSteps(picture, width, height, resample);
}

/** get_resize_output_image_size(max_size): lengths are cut to whole numbers. */
function within(picture: Picture, size: { shortest_edge: number; longest_edge?: number }): Edges {
  const isTall = picture.width <= picture.height;
  const [shortest, longest] = isTall ? [picture.width, picture.height] : [picture.height, picture.width];
  let [short, long] = [size.shortest_edge, Math.trunc((size.shortest_edge * longest) / shortest)];
  const limit = size.longest_edge;
  if (limit !== undefined && long > limit) [short, long] = [Math.trunc((limit * short) / long), limit];
  return isTall ? { width: short, height: long } : { width: long, height: short };
}
