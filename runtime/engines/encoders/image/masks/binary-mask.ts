import type { Edges } from '../../../processors/image/sizes.js';
import { bilinearOfRows, bilinearRows, type Plane } from '../../../processors/image/interpolate.js';
import { eachRow } from '../../../../core/each-row.js';
import type { PixelBox } from './non-maximum.js';

/** A mask as runs: numbers of pixels, row by row, that are alternately out of it and in it. */
export interface BinaryMask extends Edges {
  runs: number[];
  /** All zeros for a mask without a pixel. */
  box: PixelBox;
  /** Pixels of the mask at a higher threshold, over those at a lower one: 1 for a sharp edge. */
  stability: number;
}

export interface MaskSizes {
  /** What the graph's masks are enlarged to first. */
  padded: Edges;
  /** The part of that which is image. */
  content: Edges;
  /** Size of the mask. */
  image: Edges;
}

/**
 * Enlarges a mask of the graph to the size of the image as post_process_masks does, in two steps with the padding cut
 * between them, and cuts it at a threshold. Only rows are held at the full sizes.
 */
export async function binaryMask(
  logits: Plane,
  { padded, content, image }: MaskSizes,
  { threshold, offset, signal }: { threshold: number; offset: number; signal: AbortSignal },
): Promise<BinaryMask> {
  const sampler = bilinearOfRows(bilinearRows(logits, padded), content, image);
  const row = new Float32Array(image.width);
  const runs: number[] = [];
  const box = { left: image.width, top: image.height, right: -1, bottom: -1 };
  let [inside, run, high, low] = [false, 0, 0, 0];
  await eachRow(image.height, signal, (y) => {
    sampler.row(y, row);
    // Of this row: nothing is called for a pixel, of which there are a hundred million.
    let [first, last] = [-1, -1];
    for (let x = 0; x < image.width; x++) {
      const value = row[x]!;
      if (value > threshold + offset) high++;
      if (value > threshold - offset) low++;
      const isIn = value > threshold;
      if (isIn !== inside) {
        runs.push(run);
        [inside, run] = [isIn, 0];
      }
      run++;
      if (!isIn) continue;
      if (first < 0) first = x;
      last = x;
    }
    if (first < 0) return;
    box.left = Math.min(box.left, first);
    box.right = Math.max(box.right, last);
    box.top = Math.min(box.top, y);
    box.bottom = y;
  });
  runs.push(run);
  const isEmpty = box.right < 0;
  return {
    ...{ height: image.height, width: image.width, runs },
    box: isEmpty ? { left: 0, top: 0, right: 0, bottom: 0 } : box,
    stability: Math.fround(high / low),
  };
}

/** 0 and 1 for each pixel, row by row. */
export function maskPixels({ runs, height, width }: BinaryMask): Uint8Array {
  const pixels = new Uint8Array(height * width);
  let at = 0;
  for (const [i, run] of runs.entries()) {
    if (i % 2 === 1) pixels.fill(1, at, at + run);
    at += run;
  }
  return pixels;
}
