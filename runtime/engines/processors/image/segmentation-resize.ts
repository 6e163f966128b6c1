import type { Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import { checkNotEmpty } from './depth-resize.js';
import { plainResize, type ResizeSettings } from './geometry.js';
import { resizeSteps } from './pillow-resize.js';
import { type Edges, largestWithin, multipleAbove, shortestEdgeWithin } from './sizes.js';
import { edgesOf, resizedLikeTorch, torchResize } from './torch-resize.js';

/** MaskFormer and its relatives: the shortest edge within the longest, then both up to multiples of `size_divisor`. */
export function* maskFormerResize(
  image: Image,
  settings: ResizeSettings & { size_divisor: number; major: number },
): Steps<Image> {
  const { size, size_divisor, resample } = settings;
  const wanted =
    'height' in size ? size : 'shortest_edge' in size ? within(image, size, settings) : undefined;
  if (!wanted) return yield* plainResize(image, settings);
  const { height, width } = size_divisor > 0 ? multipleAbove(wanted, size_divisor) : wanted;
  return yield* resizeSteps(image, width, height, resample);
}

/** The same without a longest edge. */
export const textNetResize: typeof maskFormerResize = (image, { size, ...settings }) =>
  maskFormerResize(image, {
    ...settings,
    size: 'shortest_edge' in size ? { shortest_edge: size.shortest_edge } : size,
  });

/** get_resize_output_image_size(max_size): lengths are cut to whole numbers; version 5 rounds them as DETR does. */
function within(
  image: Image,
  size: { shortest_edge: number; longest_edge?: number },
  { major }: { major: number },
): Edges {
  if (major >= 5 && size.longest_edge !== undefined)
    return shortestEdgeWithin(image, size.shortest_edge, size.longest_edge);
  const isTall = image.width <= image.height;
  const [shortest, longest] = isTall ? [image.width, image.height] : [image.height, image.width];
  let [short, long] = [size.shortest_edge, Math.trunc((size.shortest_edge * longest) / shortest)];
  const limit = size.longest_edge;
  if (limit !== undefined && long > limit) [short, long] = [Math.trunc((limit * short) / long), limit];
  return isTall ? { width: short, height: long } : { width: long, height: short };
}

/** Sapiens 2: both edges, or as large as fits into both where black is put around images. */
export function* sapiens2Resize(image: Image, settings: ResizeSettings & { do_pad: boolean }): Steps<Image> {
  if (!settings.do_pad) return yield* torchResize(image, settings);
  const to = largestWithin(image, edgesOf(settings.size));
  checkNotEmpty(to);
  return yield* resizedLikeTorch(image, to, settings.resample);
}
