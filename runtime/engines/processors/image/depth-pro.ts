import type { Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import { bicubicRows, bilinearRows, type RowSampler, type Samples } from './interpolate.js';
import type { Floats, ProcessorSettings } from './processor-settings.js';
import type { Edges } from './sizes.js';

const BICUBIC = 3;

/** Depth Pro normalises first and resizes as PyTorch does, without antialias. */
export function depthProFloats(image: Image, settings: ProcessorSettings): Steps<Floats> {
  const { size, do_resize } = settings;
  return floatsWithoutAntialias(image, do_resize && 'height' in size ? size : image, settings);
}

/**
 * Rescaled, normalised, and resized as PyTorch does it to floats, without antialias; the order is free, as all of it is linear.
 * Resizing the bytes gives the same numbers, and takes a quarter of the memory.
 * @param options.cuts what overshoots the levels of bytes is cut before it is rescaled
 */
export function* floatsWithoutAntialias(
  image: Image,
  to: Edges,
  settings: ProcessorSettings,
  { cuts = false } = {},
): Steps<Floats> {
  const rowsOf = settings.resample === BICUBIC ? bicubicRows : bilinearRows;
  const plane = to.height * to.width;
  const values = new Float32Array(plane * 3);
  for (let c = 0; c < 3; c++) {
    const channel = values.subarray(c * plane, (c + 1) * plane);
    yield* fill(channel, rowsOf(channelOf(image, c), to));
    if (cuts) for (let i = 0; i < plane; i++) channel[i] = Math.min(255, Math.max(0, channel[i]!));
    const factor = settings.do_rescale ? settings.rescale_factor : 1;
    const [mean, std] = settings.do_normalize ? [settings.image_mean[c]!, settings.image_std[c]!] : [0, 1];
    for (let i = 0; i < plane; i++) channel[i] = (channel[i]! * factor - mean) / std;
  }
  return { values, height: to.height, width: to.width };
}

export function channelOf({ data, width, height, channels }: Image, channel: number): Samples {
  const values = new Uint8Array(width * height);
  for (let i = 0; i < values.length; i++) values[i] = data[i * channels + channel]!;
  return { values, width, height };
}

export function* fill(target: Float32Array, rows: RowSampler): Steps<void> {
  for (let y = 0; y < rows.height; y++) {
    rows.row(y, target.subarray(y * rows.width, (y + 1) * rows.width));
    yield;
  }
}
