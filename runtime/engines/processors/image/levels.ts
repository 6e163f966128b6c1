import { RunError } from '../../../core/errors.js';
import type { Image } from '../../../media/decoded-image.js';
import type { Json } from '../../repository/model-folder.js';
import type { ProcessorSettings } from './processor-settings.js';

/** What rescaling and normalising make of each 8-bit level of a channel. */
export function levelTable(channel: number, settings: LevelSettings): Float32Array {
  return Float32Array.from({ length: 256 }, (_, level) => scaled(level, channel, settings));
}

export type LevelSettings = Pick<
  ProcessorSettings,
  | 'do_rescale'
  | 'rescale_factor'
  | 'rescale_offset'
  | 'do_normalize'
  | 'image_mean'
  | 'image_std'
  | 'include_top'
>;

/** Means and deviations of the images that CLIP was trained on. */
export const CLIP = {
  image_mean: [0.48145466, 0.4578275, 0.40821073],
  image_std: [0.26862954, 0.26130258, 0.27577711],
};

/** Levels from -1 to 1. */
export const HALVES = { image_mean: [0.5, 0.5, 0.5], image_std: [0.5, 0.5, 0.5] };

/** Settings of a processor that rescales and normalises. @param usual where its configuration names none */
export function readLevels(
  config: Json,
  usual: Pick<LevelSettings, 'image_mean' | 'image_std'>,
): LevelSettings {
  const value = <T>(name: string, otherwise: T): T => (config[name] ?? otherwise) as T;
  return {
    do_rescale: value('do_rescale', true),
    rescale_factor: value('rescale_factor', 1 / 255),
    rescale_offset: false,
    do_normalize: value('do_normalize', true),
    image_mean: perChannel(value('image_mean', usual.image_mean)),
    image_std: perChannel(value('image_std', usual.image_std)),
    include_top: false,
  };
}

/** @throws RunError `not_ready` for levels that stay from 0 to 255: Python resizes floats of that kind otherwise */
export function requireRescaled(config: Json): Json {
  if (config['do_rescale'] !== false) return config;
  throw new RunError('not_ready', 'preprocessor_config.json: do_rescale must be true');
}

const CHANNELS = 3;

/**
 * One number stands for all channels, alone or in a list.
 * @throws RunError `not_ready` for a list of another length than there are channels, with which Python fails at each image
 */
export function perChannel(value: number | number[]): number[] {
  const list = [value].flat();
  if (list.length === CHANNELS) return list;
  if (list.length === 1) return list.concat(list, list);
  throw new RunError(
    'not_ready',
    `preprocessor_config.json: image_mean and image_std are numbers for ${CHANNELS} channels, not for ${list.length}`,
  );
}

/** One 8-bit level after rescaling and normalising: the whole arithmetic, since only 256 levels exist. */
function scaled(level: number, channel: number, settings: LevelSettings): number {
  let value = settings.do_rescale ? Math.fround(level * settings.rescale_factor) : level;
  if (settings.do_rescale && settings.rescale_offset) value -= 1;
  const std = settings.image_std[channel]!;
  if (settings.do_normalize) value = (value - settings.image_mean[channel]!) / std;
  return settings.include_top ? value / std : value;
}

/** Levels of an image's pixels: [channels, height, width]. */
export const planesOf = (image: Image, levels: LevelSettings): Float32Array =>
  planesBy(
    image,
    Array.from({ length: image.channels }, (_, channel) => levelTable(channel, levels)),
  );

/** The same, by a table of values for the levels of each channel. */
export function planesBy(
  { data, width, height, channels }: Image,
  tables: readonly Float32Array[],
): Float32Array {
  const plane = width * height;
  const values = new Float32Array(plane * channels);
  for (let c = 0; c < channels; c++) {
    const table = tables[c]!;
    for (let i = 0; i < plane; i++) values[c * plane + i] = table[data[i * channels + c]!]!;
  }
  return values;
}
