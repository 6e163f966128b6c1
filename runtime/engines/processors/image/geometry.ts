import type { Steps } from '../../../core/steps.js';
import { RunError } from '../../../core/errors.js';
import { resizeSteps } from './pillow-resize.js';
import { type Edges, longestEdge, shortestEdgeWithin } from './sizes.js';
import type { Image } from '../../../media/decoded-image.js';

/** `longest_edge` beside the shortest one is a limit. */
export type Size =
  | Edges
  | { shortest_edge: number; longest_edge?: number }
  | { longest_edge: number }
  | { max_height: number; max_width: number };

/** What a resize looks at. */
export interface ResizeSettings {
  size: Size;
  crop_pct: number | null;
  /** PIL.Image.Resampling by number. */
  resample: number;
  /** Of the version that wrote them; 4 if absent. */
  major?: number;
}

export type Resize<Settings extends ResizeSettings = ResizeSettings> = (
  image: Image,
  settings: Settings,
) => Steps<Image>;

export function* plainResize(image: Image, { size, resample, major = 4 }: ResizeSettings): Steps<Image> {
  if ('height' in size) return yield* resizeSteps(image, size.width, size.height, resample);
  // A longest edge beside it is a limit for classes of version 5 alone.
  if ('shortest_edge' in size && size.longest_edge !== undefined && major >= 5) {
    const to = shortestEdgeWithin(image, size.shortest_edge, size.longest_edge);
    return yield* resizeSteps(image, to.width, to.height, resample);
  }
  if ('shortest_edge' in size) return yield* resizeShortest(image, size.shortest_edge, resample);
  throw new RunError(
    'not_ready',
    'preprocessor_config.json: size has no height and width, and no shortest_edge',
  );
}

/** get_resize_output_image_size(default_to_square=False): the long edge is cut to an integer, not rounded. */
function* resizeShortest(image: Image, edge: number, resample: number): Steps<Image> {
  const { width, height } = image;
  const long = Math.trunc((edge * Math.max(width, height)) / Math.min(width, height));
  return width <= height
    ? yield* resizeSteps(image, edge, long, resample)
    : yield* resizeSteps(image, long, edge, resample);
}

/** ConvNeXT: a small image is cut out of one resized to crop_pct more; a large one is squashed. */
export function* convNextResize(image: Image, settings: ResizeSettings): Steps<Image> {
  const { size, crop_pct, resample } = settings;
  if (!('height' in size) && !('shortest_edge' in size)) return yield* plainResize(image, settings);
  const edge = 'height' in size ? size.height : size.shortest_edge;
  if (edge >= 384) return yield* resizeSteps(image, edge, edge, resample);
  const resized = yield* resizeShortest(image, Math.trunc(edge / crop_pct!), resample);
  return centerCrop(resized, { height: edge, width: edge });
}

export function* levitResize(image: Image, settings: ResizeSettings): Steps<Image> {
  if (!('shortest_edge' in settings.size)) return yield* plainResize(image, settings);
  return yield* resizeShortest(
    image,
    Math.trunc((256 / 224) * settings.size.shortest_edge),
    settings.resample,
  );
}

export function* poolFormerResize(image: Image, settings: ResizeSettings): Steps<Image> {
  const { size, crop_pct, resample } = settings;
  if (crop_pct === null) return yield* plainResize(image, settings);
  if ('shortest_edge' in size)
    return yield* resizeShortest(image, Math.trunc(size.shortest_edge / crop_pct), resample);
  if (!('height' in size)) return yield* plainResize(image, settings);
  const [height, width] = [Math.trunc(size.height / crop_pct), Math.trunc(size.width / crop_pct)];
  return size.height === size.width
    ? yield* resizeShortest(image, height, resample)
    : yield* resizeSteps(image, width, height, resample);
}

/** Perceiver cuts first: the square of the short edge, less by what `size` is less than `crop_size`. */
export function* perceiverResize(
  image: Image,
  settings: ResizeSettings & { do_center_crop: boolean; crop_size: Edges },
): Steps<Image> {
  const { size, crop_size, do_center_crop } = settings;
  if (!do_center_crop || !('height' in size)) return yield* plainResize(image, settings);
  const short = Math.min(image.height, image.width);
  const cut = {
    height: Math.trunc((size.height / crop_size.height) * short),
    width: Math.trunc((size.width / crop_size.width) * short),
  };
  return yield* plainResize(centerCrop(image, cut), settings);
}

/** SAM: the longest edge gets a fixed length. */
export function* longestEdgeResize(image: Image, settings: ResizeSettings): Steps<Image> {
  const { size, resample } = settings;
  if (!('longest_edge' in size) || size.longest_edge === undefined)
    return yield* plainResize(image, settings);
  const { height, width } = longestEdge(image, size.longest_edge);
  return yield* resizeSteps(image, width, height, resample);
}

/** transformers.js's general class, which networks from outside of transformers name: edges down to multiples, one at least. */
export function* generalResize(
  image: Image,
  settings: ResizeSettings & { size_divisibility: number },
): Steps<Image> {
  const { size, size_divisibility: of, resample } = settings;
  if (!('shortest_edge' in size)) return yield* plainResize(image, settings);
  const { height, width } = shortestEdgeWithin(image, size.shortest_edge, size.longest_edge);
  const edge = (length: number) => Math.max(1, Math.floor(length / of)) * of;
  return yield* resizeSteps(image, edge(width), edge(height), resample);
}

/** ViLT: the longest edge has 1333 pixels where the shortest has 800, at most; both are multiples of `size_divisor`. */
export function* viltResize(image: Image, settings: ResizeSettings & { size_divisor: number }): Steps<Image> {
  const { size, size_divisor, resample } = settings;
  if (!('shortest_edge' in size)) return yield* plainResize(image, settings);
  const longest = Math.trunc((1333 / 800) * size.shortest_edge);
  let scale = size.shortest_edge / Math.min(image.height, image.width);
  const long = scale * Math.max(image.height, image.width);
  let [height, width] =
    image.height < image.width
      ? [size.shortest_edge, scale * image.width]
      : [scale * image.height, size.shortest_edge];
  if (long > longest) {
    scale = longest / Math.max(height, width);
    [height, width] = [scale * height, scale * width];
  }
  const edge = (length: number) => Math.floor(Math.trunc(length + 0.5) / size_divisor) * size_divisor;
  [height, width] = [edge(height), edge(width)];
  if (height > 0 && width > 0) return yield* resizeSteps(image, width, height, resample);
  throw new RunError('unprocessable', 'the image is too narrow for this model');
}

/** Cuts the middle out; where the image is smaller, black is put around it (image_transforms.center_crop). */
export function centerCrop(image: Image, size: Edges): Image {
  const top = offset(image.height, size.height);
  const left = offset(image.width, size.width);
  const { channels } = image;
  const data = new Uint8Array(size.height * size.width * channels);
  for (let y = 0; y < size.height; y++) {
    const sy = y + top;
    if (sy < 0 || sy >= image.height) continue;
    const from = Math.max(0, left);
    const to = Math.min(image.width, left + size.width);
    const row = image.data.subarray((sy * image.width + from) * channels, (sy * image.width + to) * channels);
    data.set(row, (y * size.width + from - left) * channels);
  }
  return { data, width: size.width, height: size.height, channels };
}

/**
 * First source row (or column) of the crop; negative where black comes first. Python pads with the ceiling of half the
 * difference and the crop starts at the padded image's start, so that is where the image lies.
 */
function offset(length: number, target: number): number {
  return length >= target ? Math.floor((length - target) / 2) : -Math.ceil((target - length) / 2);
}
