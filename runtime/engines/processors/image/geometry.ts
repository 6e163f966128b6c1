import type { Steps } from '../../../core/steps.js';
import { RunError } from '../../../core/errors.js';
import { resizeSteps } from './pillow-resize.js';
import { type Edges, longestEdge, shortestEdgeWithin } from './sizes.js';
import type { Picture } from '../../../media/picture.js';

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
}

export type Resize<Settings extends ResizeSettings = ResizeSettings> = (
  picture: Picture,
  settings: Settings,
) => Steps<Picture>;

export function* plainResize(picture: Picture, { size, resample }: ResizeSettings): Steps<Picture> {
  if ('height' in size) return yield* resizeSteps(picture, size.width, size.height, resample);
  if ('shortest_edge' in size) return yield* resizeShortest(picture, size.shortest_edge, resample);
  throw new RunError(
    'not_ready',
    'preprocessor_config.json: size has no height and width, and no shortest_edge',
  );
}

/** get_resize_output_image_size(default_to_square=False): the long edge is cut to an integer, not rounded. */
function* resizeShortest(picture: Picture, edge: number, resample: number): Steps<Picture> {
  const { width, height } = picture;
  const long = Math.trunc((edge * Math.max(width, height)) / Math.min(width, height));
  return width <= height
    ? yield* resizeSteps(picture, edge, long, resample)
    : yield* resizeSteps(picture, long, edge, resample);
}

/** ConvNeXT: a small picture is cut out of one resized to crop_pct more; a large one is squashed. */
export function* convNextResize(picture: Picture, settings: ResizeSettings): Steps<Picture> {
  const { size, crop_pct, resample } = settings;
  if (!('height' in size) && !('shortest_edge' in size)) return yield* plainResize(picture, settings);
  const edge = 'height' in size ? size.height : size.shortest_edge;
  if (edge >= 384) return yield* resizeSteps(picture, edge, edge, resample);
  const resized = yield* resizeShortest(picture, Math.trunc(edge / crop_pct!), resample);
  return centerCrop(resized, { height: edge, width: edge });
}

export function* levitResize(picture: Picture, settings: ResizeSettings): Steps<Picture> {
  if (!('shortest_edge' in settings.size)) return yield* plainResize(picture, settings);
  return yield* resizeShortest(
    picture,
    Math.trunc((256 / 224) * settings.size.shortest_edge),
    settings.resample,
  );
}

export function* poolFormerResize(picture: Picture, settings: ResizeSettings): Steps<Picture> {
  const { size, crop_pct, resample } = settings;
  if (crop_pct === null) return yield* plainResize(picture, settings);
  if ('shortest_edge' in size)
    return yield* resizeShortest(picture, Math.trunc(size.shortest_edge / crop_pct), resample);
  if (!('height' in size)) return yield* plainResize(picture, settings);
  const [height, width] = [Math.trunc(size.height / crop_pct), Math.trunc(size.width / crop_pct)];
  return size.height === size.width
    ? yield* resizeShortest(picture, height, resample)
    : yield* resizeSteps(picture, width, height, resample);
}

/** Perceiver cuts first: the square of the short edge, less by what `size` is less than `crop_size`. */
export function* perceiverResize(
  picture: Picture,
  settings: ResizeSettings & { do_center_crop: boolean; crop_size: Edges },
): Steps<Picture> {
  const { size, crop_size, do_center_crop } = settings;
  if (!do_center_crop || !('height' in size)) return yield* plainResize(picture, settings);
  const short = Math.min(picture.height, picture.width);
  const cut = {
    height: Math.trunc((size.height / crop_size.height) * short),
    width: Math.trunc((size.width / crop_size.width) * short),
  };
  return yield* plainResize(centerCrop(picture, cut), settings);
}

/** SAM: the longest edge gets a fixed length. */
export function* longestEdgeResize(picture: Picture, settings: ResizeSettings): Steps<Picture> {
  const { size, resample } = settings;
  if (!('longest_edge' in size) || size.longest_edge === undefined)
    return yield* plainResize(picture, settings);
  const { height, width } = longestEdge(picture, size.longest_edge);
  return yield* resizeSteps(picture, width, height, resample);
}

/** transformers.js's general class, which networks from outside of transformers name: edges down to multiples, one at least. */
export function* generalResize(
  picture: Picture,
  settings: ResizeSettings & { size_divisibility: number },
): Steps<Picture> {
  const { size, size_divisibility: of, resample } = settings;
  if (!('shortest_edge' in size)) return yield* plainResize(picture, settings);
  const { height, width } = shortestEdgeWithin(picture, size.shortest_edge, size.longest_edge);
  const edge = (length: number) => Math.max(1, Math.floor(length / of)) * of;
  return yield* resizeSteps(picture, edge(width), edge(height), resample);
}

/** ViLT: the longest edge has 1333 pixels where the shortest has 800, at most; both are multiples of `size_divisor`. */
export function* viltResize(
  picture: Picture,
  settings: ResizeSettings & { size_divisor: number },
): Steps<Picture> {
  const { size, size_divisor, resample } = settings;
  if (!('shortest_edge' in size)) return yield* plainResize(picture, settings);
  const longest = Math.trunc((1333 / 800) * size.shortest_edge);
  let scale = size.shortest_edge / Math.min(picture.height, picture.width);
  const long = scale * Math.max(picture.height, picture.width);
  let [height, width] =
    picture.height < picture.width
      ? [size.shortest_edge, scale * picture.width]
      : [scale * picture.height, size.shortest_edge];
  if (long > longest) {
    scale = longest / Math.max(height, width);
    [height, width] = [scale * height, scale * width];
  }
  const edge = (length: number) => Math.floor(Math.trunc(length + 0.5) / size_divisor) * size_divisor;
  [height, width] = [edge(height), edge(width)];
  if (height > 0 && width > 0) return yield* resizeSteps(picture, width, height, resample);
  throw new RunError('unprocessable', 'the picture is too narrow for this model');
}

/** Cuts the middle out; where the picture is smaller, black is put around it (image_transforms.center_crop). */
export function centerCrop(picture: Picture, size: Edges): Picture {
  const top = offset(picture.height, size.height);
  const left = offset(picture.width, size.width);
  const { channels } = picture;
  const data = new Uint8Array(size.height * size.width * channels);
  for (let y = 0; y < size.height; y++) {
    const sy = y + top;
    if (sy < 0 || sy >= picture.height) continue;
    const from = Math.max(0, left);
    const to = Math.min(picture.width, left + size.width);
    const row = picture.data.subarray(
      (sy * picture.width + from) * channels,
      (sy * picture.width + to) * channels,
    );
    data.set(row, (y * size.width + from - left) * channels);
  }
  return { data, width: size.width, height: size.height, channels };
}

/**
 * First source row (or column) of the crop; negative where black comes first. Python pads with the ceiling of half the
 * difference and the crop starts at the padded picture's start, so that is where the picture lies.
 */
function offset(length: number, target: number): number {
  return length >= target ? Math.floor((length - target) / 2) : -Math.ceil((target - length) / 2);
}
