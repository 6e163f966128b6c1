import type { Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import { channelOf, fill } from './depth-pro.js';
import { checkNotEmpty, dptSize } from './depth-resize.js';
import { bicubicRows, bilinearRows, type Samples } from './interpolate.js';
import type { Json } from '../../repository/model-folder.js';
import { requireRescaled } from './levels.js';
import { checkTorchSettings } from './torch-resize.js';
import type { Floats, ProcessorSettings } from './processor-settings.js';
import type { Edges } from './sizes.js';

const BICUBIC = 3;

/** @throws RunError `not_ready` as `requireRescaled` and `checkTorchSettings` */
export const checkFloatSettings = (config: Json): Json =>
  checkTorchSettings(config['do_resize'] === false ? config : requireRescaled(config));

/** What ZoeDepth mirrors at each edge, and takes off its answer again. */
export function zoeMargin({ height, width }: Edges): { top: number; left: number } {
  const margin = (edge: number) => Math.trunc(Math.sqrt(edge / 2) * 3);
  return { top: margin(height), left: margin(width) };
}

/**
 * ZoeDepth: edges are mirrored, then floats resized as PyTorch does with align_corners. Resizing the bytes gives the same numbers,
 * since both steps are linear.
 */
export function* zoeDepthFloats(image: Image, settings: ProcessorSettings): Steps<Floats> {
  const { size, resample } = settings;
  const { top, left } = settings.do_pad ? zoeMargin(image) : { top: 0, left: 0 };
  const padded = { height: image.height + 2 * top, width: image.width + 2 * left };
  const to = settings.do_resize && 'height' in size ? dptSize(padded, { ...settings, size }) : padded;
  checkNotEmpty(to);
  const plane = to.height * to.width;
  const values = new Float32Array(plane * 3);
  for (let c = 0; c < 3; c++) {
    const channel = values.subarray(c * plane, (c + 1) * plane);
    const samples = mirrored(channelOf(image, c), { top, left });
    yield* fill(
      channel,
      resample === BICUBIC ? bicubicRows(samples, to, true) : bilinearRows(samples, to, true),
    );
    const factor = settings.do_rescale ? settings.rescale_factor : 1;
    const [mean, std] = settings.do_normalize ? [settings.image_mean[c]!, settings.image_std[c]!] : [0, 1];
    for (let i = 0; i < plane; i++) channel[i] = (channel[i]! * factor - mean) / std;
  }
  return { values, ...to };
}

function mirrored(plane: Samples, { top, left }: { top: number; left: number }): Samples {
  if (top === 0 && left === 0) return plane;
  const [height, width] = [plane.height + 2 * top, plane.width + 2 * left];
  const values = new Uint8Array(height * width);
  const columns = Int32Array.from({ length: width }, (_, x) => reflected(x - left, plane.width));
  for (let y = 0, at = 0; y < height; y++) {
    const row = reflected(y - top, plane.height) * plane.width;
    for (let x = 0; x < width; x++) values[at++] = plane.values[row + columns[x]!]!;
  }
  return { values, height, width };
}

/** Mirrored at the middles of the first and last one, there and back again. */
function reflected(index: number, length: number): number {
  if (length === 1) return 0;
  const period = 2 * (length - 1);
  const inside = ((index % period) + period) % period;
  return inside < length ? inside : period - inside;
}
