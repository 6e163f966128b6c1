import type { Edges } from '../../../processors/image/sizes.js';

/** A class or an object that some pixels belong to. */
export interface Segment {
  /** What stands for it in the map. */
  id: number;
  /** Index of its class. */
  label: number;
  /** Undefined for classes of pixels, which have none. */
  score: number | undefined;
}

export interface SegmentMap extends Edges {
  /** Id of the segment of each pixel, row by row; -1 for none. */
  ids: Int16Array;
  segments: Segment[];
}

/** One segment as grey levels: 255 where it is, else 0. */
export function segmentPixels({ ids }: SegmentMap, id: number): Uint8Array {
  const pixels = new Uint8Array(ids.length);
  for (let i = 0; i < ids.length; i++) if (ids[i] === id) pixels[i] = 255;
  return pixels;
}
