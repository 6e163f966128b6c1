import type { Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import { alongColumns, alongRows, resizeSteps } from './pillow-resize.js';
import { filterOf, PILLOW, tapsOf } from './resample-taps.js';
import type { Edges } from './sizes.js';

/** How many times larger an image stays than its thumbnail where means of its pixels are taken first. */
const GAP = 2;

/**
 * Pillow's thumbnail: of images that are much larger, means of whole blocks are taken before the filter.
 * @param to no larger than the image
 */
export function* thumbnailSteps(image: Image, to: Edges, resample: number): Steps<Image> {
  const factor = (from: number, target: number) => Math.trunc(from / target / GAP) || 1;
  const [across, down] = [factor(image.width, to.width), factor(image.height, to.height)];
  if (across === 1 && down === 1) return yield* resizeSteps(image, to.width, to.height, resample);
  const means = yield* meansOf(image, across, down);
  const filter = filterOf(resample);
  const { width, height } = means;
  const columns = { source: width, target: to.width, span: image.width / across };
  const rows = { source: height, target: to.height, span: image.height / down };
  const isWide = to.width !== columns.span || to.width !== width;
  const isTall = to.height !== rows.span || to.height !== height;
  const wide = isWide ? yield* alongRows(means, tapsOf(columns, filter, PILLOW)) : means;
  return isTall ? yield* alongColumns(wide, tapsOf(rows, filter, PILLOW)) : wide;
}

/** Means of blocks of so many pixels, fewer at the right and at the bottom, with the rounding of Pillow's Reduce.c. */
function* meansOf({ data, width, height, channels }: Image, across: number, down: number): Steps<Image> {
  const [columns, rows] = [Math.ceil(width / across), Math.ceil(height / down)];
  const means = new Uint8Array(columns * rows * channels);
  for (let y = 0, o = 0; y < rows; y++) {
    const bottom = Math.min(height, (y + 1) * down);
    for (let x = 0; x < columns; x++) {
      const right = Math.min(width, (x + 1) * across);
      const count = (bottom - y * down) * (right - x * across);
      const multiplier = Math.trunc(2 ** 24 / count);
      for (let c = 0; c < channels; c++) {
        let sum = Math.trunc(count / 2);
        for (let line = y * down; line < bottom; line++)
          for (let at = x * across; at < right; at++) sum += data[(line * width + at) * channels + c]!;
        means[o++] = Math.trunc((sum * multiplier) / 2 ** 24);
      }
    }
    yield;
  }
  return { data: means, width: columns, height: rows, channels };
}
