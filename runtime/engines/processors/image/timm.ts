import { roundHalfEven } from '../../../core/round-half-even.js';
import type { Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import type { Json } from '../../repository/model-folder.js';
import type { ResizeSettings, Size } from './geometry.js';
import { plainResize } from './geometry.js';
import { resizeSteps } from './pillow-resize.js';
import type { Edges } from './sizes.js';

const IMAGENET = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };
const FILTERS: Record<string, number> = {
  nearest: 0,
  lanczos: 1,
  bilinear: 2,
  bicubic: 3,
  box: 4,
  hamming: 5,
};
/** timm's DEFAULT_CROP_PCT. */
const CROP = 0.875;

/** `pretrained_cfg` of timm's config.json, in the names that the other processors have. */
export function timmSettings(config: Json): Json {
  const own = (config['pretrained_cfg'] ?? config) as Json;
  const [, height, width] = (own['input_size'] ?? [3, 224, 224]) as [number, number, number];
  return {
    size: { height, width },
    crop_size: { height, width },
    crop_pct: own['crop_pct'] || CROP,
    crop_mode: own['crop_mode'] || 'center',
    resample: FILTERS[String(own['interpolation'] || 'bicubic')],
    image_mean: own['mean'] ?? IMAGENET.mean,
    image_std: own['std'] ?? IMAGENET.std,
  };
}

export interface TimmSettings extends ResizeSettings {
  crop_size: Edges;
  crop_mode: string;
  image_mean: number[];
}

/** timm's transforms for evaluation: resized to more than is needed, and cut. */
export function* timmResize(image: Image, settings: TimmSettings): Steps<Image> {
  const { crop_size: to, crop_pct, crop_mode, resample } = settings;
  const [height, width] = [Math.floor(to.height / crop_pct!), Math.floor(to.width / crop_pct!)];
  if (crop_mode === 'squash') return cut(yield* resizeSteps(image, width, height, resample), to);
  if (crop_mode === 'border') {
    const fill = settings.image_mean.map((mean) => roundHalfEven(255 * mean));
    return cut(yield* keepRatio(image, { height, width }, { resample, pick: Math.max }), to, fill);
  }
  const size: Size = { shortest_edge: height };
  return height === width
    ? cut(yield* plainResize(image, { ...settings, size }), to)
    : cut(yield* keepRatio(image, { height, width }, { resample, pick: Math.min }), to);
}

function* keepRatio(
  image: Image,
  to: Edges,
  { resample, pick }: { resample: number; pick: (a: number, b: number) => number },
): Steps<Image> {
  const ratio = pick(image.height / to.height, image.width / to.width);
  const edge = (length: number) => Math.max(1, roundHalfEven(length / ratio));
  return yield* resizeSteps(image, edge(image.width), edge(image.height), resample);
}

/** The middle, by torchvision's rounding; what is too small lies in `fill`. */
function cut(image: Image, to: Edges, fill = [0, 0, 0]): Image {
  const { channels } = image;
  const [top, left] = [offset(image.height, to.height), offset(image.width, to.width)];
  const data = new Uint8Array(to.height * to.width * channels);
  for (let y = 0, o = 0; y < to.height; y++) {
    for (let x = 0; x < to.width; x++, o += channels) {
      const [row, column] = [y + top, x + left];
      const isIn = row >= 0 && row < image.height && column >= 0 && column < image.width;
      const from = (row * image.width + column) * channels;
      for (let c = 0; c < channels; c++) data[o + c] = isIn ? image.data[from + c]! : fill[c]!;
    }
  }
  return { data, width: to.width, height: to.height, channels };
}

/** First row or column of the image that is kept; negative where filling comes first. */
const offset = (length: number, to: number): number =>
  length < to ? -Math.floor((to - length) / 2) : roundHalfEven((length - to) / 2);
