import type { Box } from '../../core/handles/index.js';

/** Scale of relative coordinates. */
export interface Scale {
  width: number;
  height: number;
}

/**
 * A box [centre x, centre y, width, height] of a tensor [boxes, 4] as corners in whole pixels: in single precision and
 * cut toward zero, as Python has it. It may lie outside of the image in part.
 */
export function cornerBox(boxes: Float32Array, index: number, { width, height }: Scale): Box {
  const [x, y, w, h] = boxes.subarray(4 * index, 4 * index + 4) as unknown as [
    number,
    number,
    number,
    number,
  ];
  const pixel = (center: number, half: number, scale: number) =>
    Math.trunc(Math.fround(Math.fround(center + half) * scale)) + 0;
  const [halfW, halfH] = [Math.fround(0.5 * w), Math.fround(0.5 * h)];
  return {
    xmin: pixel(x, -halfW, width),
    ymin: pixel(y, -halfH, height),
    xmax: pixel(x, halfW, width),
    ymax: pixel(y, halfH, height),
  };
}

/** In single precision, as scores are compared with thresholds. */
export const sigmoid = (logit: number): number => Math.fround(1 / (1 + Math.exp(-logit)));
