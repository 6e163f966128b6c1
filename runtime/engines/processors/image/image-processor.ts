import { RunError } from '../../../core/errors.js';
import {
  centerCrop,
  convNextResize,
  type Edges,
  levitResize,
  plainResize,
  poolFormerResize,
  type Resize,
  type ResizeSettings,
  type Size,
} from './geometry.js';
import type { Picture } from './pillow-resize.js';

type Config = Record<string, unknown>;

interface Settings extends ResizeSettings {
  do_resize: boolean;
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
  /** True where `crop_pct: null` means none instead of the default. */
  nullCrop?: boolean;
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
  EfficientFormer: square({
    ...{ size: 224, resample: BICUBIC, do_center_crop: true, crop_size: 224 },
    ...IMAGENET,
  }),
  Blip: square({ size: 384, resample: BICUBIC, ...CLIP }),
  CLIP: clip,
  Bit: clip,
  ChineseCLIP: clip,
  ViTHybrid: clip,
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
    nullCrop: true,
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
      const seen = asPythonSees(picture);
      const resized = settings.do_resize ? family.resize(seen, settings) : seen;
      const cropped = settings.do_center_crop ? centerCrop(resized, settings.crop_size) : resized;
      return { values: toPlanes(cropped, settings), height: cropped.height, width: cropped.width };
    },
  };
}

/**
 * Python takes a first axis of length 1 or 3 for the colour channels: it fails on pictures of one row, and reads the
 * rows of a picture of three as its colours.
 */
function asPythonSees(picture: Picture): Picture {
  const { width, height, channels, data } = picture;
  if (height === 1) throw new RunError('unprocessable', 'the picture is only one pixel high');
  if (height !== 3) return picture;
  const turned = new Uint8Array(data.length);
  for (let row = 0; row < 3; row++) {
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < channels; c++)
        turned[(x * 3 + c) * 3 + row] = data[(row * width + x) * channels + c]!;
    }
  }
  return { data: turned, width: channels, height: width, channels: 3 };
}

function readSettings(config: Config, family: Family): Settings {
  const value = <T>(key: keyof Settings, otherwise: T): T =>
    (config[key] ?? family.defaults[key] ?? otherwise) as T;
  return {
    do_resize: value('do_resize', true),
    size: readSize(value<unknown>('size', 224), family.number),
    // Written as null it means none, which is not the same as left out.
    crop_pct:
      'crop_pct' in config && family.nullCrop
        ? (config['crop_pct'] as number | null)
        : value<number | null>('crop_pct', null),
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
