import { RunError } from '../core/errors.js';
import { type Picture, resizeLikePillow } from './pillow-resize.js';

type Config = Record<string, unknown>;
type Resize = (picture: Picture, settings: Settings) => Picture;

interface Edges {
  height: number;
  width: number;
}

type Size = Edges | { shortest_edge: number };

interface Settings {
  do_resize: boolean;
  size: Size;
  crop_pct: number | undefined;
  resample: number;
  do_center_crop: boolean;
  crop_size: Edges;
  do_rescale: boolean;
  rescale_factor: number;
  rescale_offset: boolean;
  do_normalize: boolean;
  image_mean: number[];
  image_std: number[];
  include_top: boolean;
  do_flip_channel_order: boolean;
}

/** How one family of Python image processors differs from the plain order resize, crop, rescale, normalise. */
interface Family {
  /** What a bare number in `size` means: the shortest edge (CLIP) or a square (ViT). */
  number: 'shortest' | 'square';
  resize: Resize;
  /** Constructor defaults, for files that leave fields out. */
  defaults: Partial<Record<keyof Settings, unknown>>;
}

const HALF = [0.5, 0.5, 0.5];
const IMAGENET = { image_mean: [0.485, 0.456, 0.406], image_std: [0.229, 0.224, 0.225] };
const CLIP = {
  image_mean: [0.48145466, 0.4578275, 0.40821073],
  image_std: [0.26862954, 0.26130258, 0.27577711],
};
const [NEAREST, BILINEAR, BICUBIC] = [0, 2, 3];

const square = (defaults: Family['defaults']): Family => ({
  number: 'square',
  resize: plainResize,
  defaults,
});
const shortest = (defaults: Family['defaults']): Family => ({
  number: 'shortest',
  resize: plainResize,
  defaults,
});

const clip = shortest({ size: 224, resample: BICUBIC, do_center_crop: true, crop_size: 224, ...CLIP });
const vit = square({ size: 224 });
const mobilenet = shortest({ size: 256, do_center_crop: true, crop_size: 224 });

/** Python class (less a `Fast` or `ImageProcessor`/`FeatureExtractor` ending) to its rules. */
const FAMILIES: Record<string, Family> = {
  ViT: vit,
  PVT: square({ size: 224, ...IMAGENET }),
  Pvt: square({ size: 224, ...IMAGENET }),
  Segformer: square({ size: 512, ...IMAGENET }),
  Siglip: square({ size: 224, resample: BICUBIC }),
  DeiT: square({ size: 256, resample: BICUBIC, do_center_crop: true, crop_size: 224 }),
  Beit: square({ size: 256, resample: BICUBIC, do_center_crop: true, crop_size: 224 }),
  EfficientFormer: square({ size: 224, resample: BICUBIC, ...IMAGENET }),
  CLIP: clip,
  Bit: clip,
  ChineseCLIP: clip,
  MobileNetV1: mobilenet,
  MobileNetV2: mobilenet,
  ConvNext: { number: 'shortest', resize: convNextResize, defaults: { size: 384, crop_pct: 224 / 256 } },
  Levit: {
    number: 'shortest',
    resize: levitResize,
    defaults: { size: 224, resample: BICUBIC, do_center_crop: true, crop_size: 224, ...IMAGENET },
  },
  PoolFormer: {
    number: 'shortest',
    resize: poolFormerResize,
    defaults: {
      size: 224,
      crop_pct: 0.9,
      resample: BICUBIC,
      do_center_crop: true,
      crop_size: 224,
      ...IMAGENET,
    },
  },
  MobileViT: shortest({
    ...{ size: 224, do_center_crop: true, crop_size: 256 },
    ...{ do_normalize: false, do_flip_channel_order: true },
  }),
  EfficientNet: square({ size: 346, resample: NEAREST, crop_size: 289, include_top: true }),
};

export interface ImageProcessor {
  /** Pixels as the model takes them: [3, height, width], channel by channel. */
  process(picture: Picture): { values: Float32Array; height: number; width: number };
}

/**
 * The classification part of transformers' image processors, from preprocessor_config.json: resize, centre crop,
 * rescale, normalise, with Pillow's arithmetic.
 * @throws RunError `not_ready` for a processor whose rules are not known: guessing would give wrong answers silently
 */
export function createImageProcessor(config: Config): ImageProcessor {
  const name = String(
    config['image_processor_type'] ?? config['feature_extractor_type'] ?? 'ViTImageProcessor',
  );
  const family = FAMILIES[name.replace(/Fast$/, '').replace(/(ImageProcessor|FeatureExtractor)$/, '')];
  if (!family) throw new RunError('not_ready', `image processor ${name} is not supported`);
  const settings = readSettings(config, family);
  return {
    process(picture) {
      // Python takes an axis of length 1 for the colour channels and fails on such pictures.
      if (picture.height === 1) throw new RunError('unprocessable', 'the picture is only one pixel high');
      const resized = settings.do_resize ? family.resize(picture, settings) : picture;
      const cropped = settings.do_center_crop ? centerCrop(resized, settings.crop_size) : resized;
      return { values: toPlanes(cropped, settings), height: cropped.height, width: cropped.width };
    },
  };
}

function readSettings(config: Config, family: Family): Settings {
  const value = <T>(key: keyof Settings, otherwise: T): T =>
    (config[key] ?? family.defaults[key] ?? otherwise) as T;
  return {
    do_resize: value('do_resize', true),
    size: readSize(value<unknown>('size', 224), family.number),
    crop_pct: value<number | undefined>('crop_pct', undefined),
    resample: value('resample', BILINEAR),
    do_center_crop: value('do_center_crop', false),
    crop_size: readSize(value<unknown>('crop_size', 224), 'square') as Edges,
    do_rescale: value('do_rescale', true),
    rescale_factor: value('rescale_factor', 1 / 255),
    rescale_offset: value('rescale_offset', false),
    do_normalize: value('do_normalize', true),
    image_mean: value('image_mean', HALF),
    image_std: value('image_std', HALF),
    include_top: value('include_top', false),
    do_flip_channel_order: value('do_flip_channel_order', false),
  };
}

function readSize(size: unknown, number: Family['number']): Size {
  if (typeof size === 'number')
    return number === 'square' ? { height: size, width: size } : { shortest_edge: size };
  const edges = size as Partial<Edges> & { shortest_edge?: number; longest_edge?: number };
  if (edges.height !== undefined && edges.width !== undefined)
    return { height: edges.height, width: edges.width };
  if (edges.shortest_edge !== undefined && edges.longest_edge === undefined) {
    return { shortest_edge: edges.shortest_edge };
  }
  throw new RunError('not_ready', `preprocessor_config.json: size ${JSON.stringify(size)} is not supported`);
}

function plainResize(picture: Picture, { size, resample }: Settings): Picture {
  if ('height' in size) return resizeLikePillow(picture, size.width, size.height, resample);
  return resizeShortest(picture, size.shortest_edge, resample);
}

/** get_resize_output_image_size(default_to_square=False): the long edge is cut to an integer, not rounded. */
function resizeShortest(picture: Picture, edge: number, resample: number): Picture {
  const { width, height } = picture;
  const long = Math.trunc((edge * Math.max(width, height)) / Math.min(width, height));
  return width <= height
    ? resizeLikePillow(picture, edge, long, resample)
    : resizeLikePillow(picture, long, edge, resample);
}

function convNextResize(picture: Picture, { size, crop_pct, resample }: Settings): Picture {
  const edge = 'shortest_edge' in size ? size.shortest_edge : size.height;
  if (edge >= 384) return resizeLikePillow(picture, edge, edge, resample);
  const resized = resizeShortest(picture, Math.trunc(edge / crop_pct!), resample);
  return centerCrop(resized, { height: edge, width: edge });
}

function levitResize(picture: Picture, settings: Settings): Picture {
  if (!('shortest_edge' in settings.size)) return plainResize(picture, settings);
  return resizeShortest(picture, Math.trunc((256 / 224) * settings.size.shortest_edge), settings.resample);
}

function poolFormerResize(picture: Picture, settings: Settings): Picture {
  const { size, crop_pct, resample } = settings;
  if (crop_pct === undefined) return plainResize(picture, settings);
  if ('shortest_edge' in size)
    return resizeShortest(picture, Math.trunc(size.shortest_edge / crop_pct), resample);
  const [height, width] = [Math.trunc(size.height / crop_pct), Math.trunc(size.width / crop_pct)];
  return size.height === size.width
    ? resizeShortest(picture, height, resample)
    : resizeLikePillow(picture, width, height, resample);
}

/** Cuts the middle out; where the picture is smaller, black is put around it (image_transforms.center_crop). */
function centerCrop(picture: Picture, size: Edges): Picture {
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

function toPlanes({ data, width, height, channels }: Picture, settings: Settings): Float32Array {
  const pixels = width * height;
  const values = new Float32Array(pixels * channels);
  for (let c = 0; c < channels; c++) {
    const source = settings.do_flip_channel_order ? channels - 1 - c : c;
    const table = Float32Array.from({ length: 256 }, (_, level) => scaled(level, c, settings));
    for (let i = 0; i < pixels; i++) values[c * pixels + i] = table[data[i * channels + source]!]!;
  }
  return values;
}

/** One 8-bit level after rescaling and normalising: the whole arithmetic, since only 256 levels exist. */
function scaled(level: number, channel: number, settings: Settings): number {
  let value = settings.do_rescale ? Math.fround(level * settings.rescale_factor) : level;
  if (settings.do_rescale && settings.rescale_offset) value -= 1;
  const std = settings.image_std[channel]!;
  if (settings.do_normalize) value = (value - settings.image_mean[channel]!) / std;
  return settings.include_top ? value / std : value;
}
