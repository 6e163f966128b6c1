import type { Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import { plainResize, type ResizeSettings } from './geometry.js';
import { resizeSteps } from './pillow-resize.js';
import { type Edges, multipleAbove } from './sizes.js';

/** MaskFormer and its relatives: the shortest edge within the longest, then both up to multiples of `size_divisor`. */
export function* maskFormerResize(
  image: Image,
  settings: ResizeSettings & { size_divisor: number },
): Steps<Image> {
  const { size, size_divisor, resample } = settings;
  const wanted = 'height' in size ? size : 'shortest_edge' in size ? within(image, size) : undefined;
  if (!wanted) return yield* plainResize(image, settings);
  const { height, width } = size_divisor > 0 ? multipleAbove(wanted, size_divisor) : wanted;
  return yield* resizeSteps(image, width, height, resample);
}

/** get_resize_output_image_size(max_size): lengths are cut to whole numbers. */
function within(image: Image, size: { shortest_edge: number; longest_edge?: number }): Edges {
  const isTall = image.width <= image.height;
  const [shortest, longest] = isTall ? [image.width, image.height] : [image.height, image.width];
  let [short, long] = [size.shortest_edge, Math.trunc((size.shortest_edge * longest) / shortest)];
  const limit = size.longest_edge;
  if (limit !== undefined && long > limit) [short, long] = [Math.trunc((limit * short) / long), limit];
  return isTall ? { width: short, height: long } : { width: long, height: short };
}
