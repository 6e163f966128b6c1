import { eachRow } from '../../core/each-row.js';
import { requireFinite } from '../../core/not-finite.js';
import type { Image } from '../../media/decoded-image.js';

export interface Planes {
  /** Channel after channel, from -1 to 1. */
  values: Float32Array;
  channels: number;
  height: number;
  width: number;
}

/**
 * Pixels of what a decoder gives, as VaeImageProcessor does: (v / 2 + 0.5), bounded, in 255 levels.
 * @throws RunError engine_failed for values that are not finite
 */
export async function toImage(planes: Planes, signal: AbortSignal): Promise<Image> {
  const { values, channels, height, width } = planes;
  requireFinite(values);
  const data = Buffer.alloc(height * width * channels);
  const plane = height * width;
  await eachRow(height, signal, (y) => {
    for (let at = y * width; at < (y + 1) * width; at++) {
      for (let channel = 0; channel < channels; channel++) {
        const share = Math.min(1, Math.max(0, values[channel * plane + at]! / 2 + 0.5));
        data[at * channels + channel] = Math.round(share * 255);
      }
    }
  });
  return { data, width, height, channels };
}
