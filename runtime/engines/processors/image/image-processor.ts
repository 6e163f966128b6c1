import { RunError } from '../../../core/errors.js';
import { BILINEAR, FAMILIES, type ProcessorFamily, HALF, type ProcessorSettings } from './families.js';
import { centerCrop, type Edges, type Size } from './geometry.js';
import type { Json } from '../../repository/model-folder.js';
import type { Picture } from '../../../media/picture.js';

export interface ImageProcessor {
  /** Pixels as the model takes them: [3, height, width], channel by channel. */
  process(picture: Picture): { values: Float32Array; height: number; width: number };
}

/**
 * The classification part of transformers' image processors, from preprocessor_config.json: resize, centre crop,
 * rescale, normalise, with Pillow's arithmetic.
 * @throws RunError `not_ready` for a processor whose rules are not known: guessing would give wrong answers silently
 */
export function createImageProcessor(config: Json): ImageProcessor {
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

function readSettings(config: Json, family: ProcessorFamily): ProcessorSettings {
  const value = <T>(key: keyof ProcessorSettings, otherwise: T): T =>
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

function readSize(size: unknown, number: ProcessorFamily['number']): Size {
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

function toPlanes({ data, width, height, channels }: Picture, settings: ProcessorSettings): Float32Array {
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
function scaled(level: number, channel: number, settings: ProcessorSettings): number {
  let value = settings.do_rescale ? Math.fround(level * settings.rescale_factor) : level;
  if (settings.do_rescale && settings.rescale_offset) value -= 1;
  const std = settings.image_std[channel]!;
  if (settings.do_normalize) value = (value - settings.image_mean[channel]!) / std;
  return settings.include_top ? value / std : value;
}
