import { RunError } from '../../../core/errors.js';
import { finish, inSlices, type Steps } from '../../../core/steps.js';
import { transformersMajor } from '../../../hub-config/version.js';
import { imageProcessorStem, isImageProcessor } from '../../../core/image-processors.js';
import { BILINEAR, FAMILIES, HALF } from './families.js';
import { levelTable, perChannel } from './levels.js';
import type { Padding, ProcessorFamily, ProcessorSettings } from './processor-settings.js';
import { centerCrop, type Size } from './geometry.js';
import type { Edges } from './sizes.js';
import type { Json } from '../../repository/model-folder.js';
import type { Image } from '../../../media/decoded-image.js';

/** An image as the model takes it. */
export interface ProcessedImage {
  /** [3, height, width], channel by channel. */
  values: Float32Array;
  height: number;
  width: number;
  /** The part that is no padding; at the top left, but where a processor centres it. */
  content: Edges;
  /** Size of the image that was given. */
  original: Edges;
  /** Rows and columns of an image whose `values` are patches: `height` of them at most, each of `width` numbers. */
  patches?: readonly [number, number];
}

export interface ImageProcessor {
  /** Python's class, less its endings: `ViT`, `Detr`. */
  readonly name: string;
  /** @throws RunError 422 an image that Python's processor fails on */
  process(image: Image): ProcessedImage;
  /** The same in short slices of the event loop. @throws the signal's reason */
  processInSlices(image: Image, signal: AbortSignal): Promise<ProcessedImage>;
}

/**
 * The classification part of transformers' image processors, from preprocessor_config.json: resize, centre crop,
 * rescale, normalise, with Pillow's arithmetic.
 * @param config with the `transformers_version` of config.json, where that is known
 * @throws RunError `not_ready` for a processor whose rules are not known: guessing would give wrong answers silently
 */
export function createImageProcessor(config: Json): ImageProcessor {
  const name = String(
    config['image_processor_type'] ?? config['feature_extractor_type'] ?? 'ViTImageProcessor',
  );
  const stem = imageProcessorStem(name);
  if (!isImageProcessor(stem)) throw new RunError('not_ready', `image processor ${name} is not supported`);
  const family = FAMILIES[stem];
  const settings = readSettings(family.translate?.(config) ?? config, family);
  function* steps(image: Image): Steps<ProcessedImage> {
    const seen = family.tensors ? image : asPythonSees(image);
    const original = { height: image.height, width: image.width };
    if (family.floats) {
      const floats = yield* family.floats(seen, settings);
      return { ...floats, content: { height: floats.height, width: floats.width }, original };
    }
    const resized = settings.do_resize ? yield* family.resize(seen, settings) : seen;
    const crops = settings.do_center_crop && !family.cropsItself;
    const cropped = crops ? centerCrop(resized, settings.crop_size) : resized;
    const content = { height: cropped.height, width: cropped.width };
    const padding = settings.do_pad ? family.pad?.(content, settings, config) : undefined;
    return {
      values: yield* toPlanes(cropped, settings, padding),
      ...(padding?.to ?? content),
      content,
      original,
    };
  }
  return {
    name: stem,
    process: (image) => finish(steps(image)),
    processInSlices: (image, signal) => inSlices(steps(image), signal),
  };
}

/**
 * Python takes a first axis of length 1 or 3 for the colour channels: it fails on images of one row, and reads the
 * rows of an image of three as its colours.
 */
export function asPythonSees(image: Image): Image {
  const { width, height, channels, data } = image;
  refuseThin(image);
  if (height !== 3) return image;
  const turned = new Uint8Array(data.length);
  for (let row = 0; row < 3; row++) {
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < channels; c++)
        turned[(x * 3 + c) * 3 + row] = data[(row * width + x) * channels + c]!;
    }
  }
  return { data: turned, width: channels, height: width, channels: 3 };
}

function refuseThin({ height }: Edges): void {
  if (height === 1) throw new RunError('unprocessable', 'the image is only one pixel high');
}

/** The edges of what `asPythonSees` gives. @throws RunError as it */
export function edgesAsPythonSees({ width, height }: Edges): Edges {
  refuseThin({ width, height });
  return height === 3 ? { width: 3, height: width } : { width, height };
}

function readSettings(config: Json, family: ProcessorFamily): ProcessorSettings {
  const value = <T>(key: keyof ProcessorSettings, otherwise: T): T =>
    (config[key] ?? family.defaults[key] ?? otherwise) as T;
  const major = transformersMajor(config) ?? 4;
  return {
    major,
    do_resize: value('do_resize', true),
    size: readSize(value<unknown>('size', 224), family.number, config['max_size']),
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
    image_mean: perChannel(value('image_mean', HALF)),
    image_std: perChannel(value('image_std', HALF)),
    include_top: value('include_top', false),
    do_flip_channel_order: value('do_flip_channel_order', false),
    do_pad:
      (config['pad_and_return_pixel_mask'] as boolean | undefined) ??
      value('do_pad', family.pad !== undefined),
    size_divisor: value('size_divisor', 32),
    size_divisibility: value('size_divisibility', 1),
    keep_aspect_ratio: value('keep_aspect_ratio', false),
    ensure_multiple_of: value('ensure_multiple_of', 1),
    do_thumbnail: value('do_thumbnail', true),
    do_align_long_axis: value('do_align_long_axis', value('do_align_axis' as never, false)),
    crop_mode: value('crop_mode', 'center'),
    patch_size: value('patch_size', 16),
    max_num_patches: value('max_num_patches', 256),
    ...family.fixed?.(major),
  };
}

/** Longest edge of DETR's images where settings of an older form name none. */
const DETR_LONGEST = 1333;

function readSize(size: unknown, number: ProcessorFamily['number'], maxSize?: unknown): Size {
  if (typeof size === 'number') {
    if (number === 'bounded')
      return { shortest_edge: size, longest_edge: typeof maxSize === 'number' ? maxSize : DETR_LONGEST };
    if (number === 'longest') return { longest_edge: size };
    return number === 'square' ? { height: size, width: size } : { shortest_edge: size };
  }
  if (Array.isArray(size)) return { height: size[0] as number, width: size[1] as number };
  const edges = size as Record<string, number | null | undefined>;
  const { height, width, shortest_edge, longest_edge, max_height, max_width } = edges;
  if (height && width) return { height, width };
  if (shortest_edge) return { shortest_edge, ...(longest_edge ? { longest_edge } : {}) };
  if (longest_edge) return { longest_edge };
  if (max_height && max_width) return { max_height, max_width };
  throw new RunError('not_ready', `preprocessor_config.json: size ${JSON.stringify(size)} is not supported`);
}

function* toPlanes(
  image: Image,
  settings: ProcessorSettings,
  padding: Padding | undefined,
): Steps<Float32Array> {
  const { data, width, height, channels } = image;
  const to = padding?.to ?? image;
  const plane = to.width * to.height;
  const values = new Float32Array(plane * channels);
  for (let c = 0; c < channels; c++) {
    const source = settings.do_flip_channel_order ? channels - 1 - c : c;
    const table = levelTable(c, settings);
    if (padding?.when === 'pixels') values.fill(table[0]!, c * plane, (c + 1) * plane);
    const first = c * plane + (padding?.top ?? 0) * to.width + (padding?.left ?? 0);
    for (let y = 0; y < height; y++) {
      const [from, row] = [y * width, first + y * to.width];
      for (let x = 0; x < width; x++) values[row + x] = table[data[(from + x) * channels + source]!]!;
      yield;
    }
  }
  return values;
}
