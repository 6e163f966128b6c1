import { roundHalfEven } from '../../../core/round-half-even.js';

export interface Edges {
  height: number;
  width: number;
}

/** A size of a file: one number is that of a square. */
export const edgesOf = (size: unknown): Edges =>
  typeof size === 'number' ? { height: size, width: size } : (size as Edges);

/**
 * Sizes that Python's image processors resize to, with their ways of rounding. All of them keep the aspect ratio as far as
 * whole pixels allow.
 */

/**
 * DETR's get_size_with_aspect_ratio: the shortest edge becomes `shortest`, unless the longest would exceed `longest`.
 * An image whose shortest edge has that length already keeps its size.
 */
export function shortestEdgeWithin({ height, width }: Edges, shortest: number, longest?: number): Edges {
  const [short, long] = [Math.min(height, width), Math.max(height, width)];
  let edge = shortest;
  let exact: number | undefined;
  if (longest !== undefined && (long / short) * shortest > longest) {
    exact = (longest * short) / long;
    edge = roundHalfEven(exact);
  }
  if (short === edge) return { height, width };
  // In Python's order of operations: another one may end just below a whole number.
  const other = Math.trunc(((exact ?? edge) * long) / short);
  return width < height ? { height: other, width: edge } : { height: edge, width: other };
}

/** get_image_size_for_max_height_width: as large as fits into both. */
export function largestWithin({ height, width }: Edges, limit: Edges): Edges {
  const scale = Math.min(limit.height / height, limit.width / width);
  return { height: Math.trunc(height * scale), width: Math.trunc(width * scale) };
}

/** SAM's and others' longest edge; both edges are rounded up from the half on. */
export function longestEdge({ height, width }: Edges, longest: number): Edges {
  const scale = longest / Math.max(height, width);
  return { height: Math.trunc(height * scale + 0.5), width: Math.trunc(width * scale + 0.5) };
}

/** Each edge up to the next multiple. */
export function multipleAbove({ height, width }: Edges, of: number): Edges {
  return { height: Math.ceil(height / of) * of, width: Math.ceil(width / of) * of };
}

/** Each edge down to a multiple. */
export function multipleBelow({ height, width }: Edges, of: number): Edges {
  return { height: Math.floor(height / of) * of, width: Math.floor(width / of) * of };
}
