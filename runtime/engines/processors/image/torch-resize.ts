import { RunError } from '../../../core/errors.js';
import type { Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import type { Json } from '../../repository/model-folder.js';
import type { Resize } from './geometry.js';
import { resizeBy } from './pillow-resize.js';
import type { Floats, ProcessorSettings } from './processor-settings.js';
import { filterOf, reachOf, TORCH } from './resample-taps.js';
import type { Edges } from './sizes.js';

/** What torchvision filters tensors with: bilinear and bicubic. */
const FILTERS = [2, 3];

/**
 * Classes that exist for tensors alone, whose bytes are resized by PyTorch's arithmetic.
 * @throws RunError `not_ready` for a filter that they don't have
 */
export function checkTorchSettings(config: Json): Json {
  torchFilter(config, FILTERS[0]!);
  if (typeof config['size'] === 'number' && config['default_to_square'] === false)
    throw new RunError('not_ready', 'preprocessor_config.json: default_to_square is not supported');
  if (config['do_center_crop'])
    throw new RunError('not_ready', 'preprocessor_config.json: do_center_crop is not supported');
  return config;
}

/** The filter that a file names. @throws RunError `not_ready` for one that tensors are not resized with */
export function torchFilter(config: Json, otherwise: number): number {
  const resample = (config['resample'] ?? otherwise) as number;
  if (FILTERS.includes(resample)) return resample;
  throw new RunError(
    'not_ready',
    `preprocessor_config.json: resample ${JSON.stringify(resample)} is not supported`,
  );
}

/**
 * As torchvision resizes bytes on processors with AVX2. On others it rounds floats where the filter is bilinear, so that
 * Python's own answers differ from machine to machine: about every sixth byte by one.
 */
export const torchResize: Resize = (image, { size, resample }) =>
  resizedLikeTorch(image, edgesOf(size), resample);

/** The same to these edges. */
export const resizedLikeTorch = (image: Image, to: Edges, resample: number): Steps<Image> =>
  resizeBy(TORCH, image, to, resample);

/** Resized as floats: bytes are rescaled first, and no step rounds to a byte. */
export function* torchFloats(image: Image, settings: ProcessorSettings): Steps<Floats> {
  const { do_resize, do_rescale, resample, rescale_factor } = settings;
  const to: Edges = do_resize ? edgesOf(settings.size) : image;
  // Bytes that are not rescaled stay bytes.
  const seen = do_rescale || !do_resize ? image : yield* torchResize(image, settings);
  const resized = yield* filtered(seen, to, resample);
  const factor = do_rescale ? rescale_factor : 1;
  const plane = to.height * to.width;
  for (let c = 0; c < 3; c++) {
    const [mean, std] = settings.do_normalize ? [settings.image_mean[c]!, settings.image_std[c]!] : [0, 1];
    for (let i = c * plane; i < (c + 1) * plane; i++) resized[i] = (resized[i]! * factor - mean) / std;
    yield;
  }
  return { values: resized, height: to.height, width: to.width };
}

/** @throws RunError `not_ready` for a size that is no height and width */
export function edgesOf(size: ProcessorSettings['size']): Edges {
  if ('height' in size) return size;
  throw new RunError('not_ready', 'preprocessor_config.json: size has no height and width');
}

/** An image's planes, one after the other, filtered along its rows and then along its columns. */
export function* filtered(image: Image, to: Edges, resample: number): Steps<Float32Array> {
  const { data, width, height, channels } = image;
  const filter = filterOf(resample);
  const [across, down] = [reachOf(width, to.width, filter), reachOf(height, to.height, filter)];
  const values = new Float32Array(channels * to.height * to.width);
  for (let c = 0; c < channels; c++) {
    const wide = new Float32Array(height * to.width);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < to.width; x++) {
        let [sum, from] = [0, (y * width + across.first[x]!) * channels + c];
        for (let k = 0; k < across.count[x]!; k++, from += channels)
          sum += data[from]! * across.shares[x * across.size + k]!;
        wide[y * to.width + x] = sum;
      }
      yield;
    }
    for (let y = 0; y < to.height; y++) {
      const row = values.subarray((c * to.height + y) * to.width, (c * to.height + y + 1) * to.width);
      for (let k = 0; k < down.count[y]!; k++) {
        const [share, from] = [down.shares[y * down.size + k]!, (down.first[y]! + k) * to.width];
        for (let x = 0; x < to.width; x++) row[x] = row[x]! + wide[from + x]! * share;
      }
      yield;
    }
  }
  return values;
}
