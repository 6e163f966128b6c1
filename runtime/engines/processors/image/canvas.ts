import type { Image } from '../../../media/decoded-image.js';
import { cutOut } from './regions.js';
import type { Edges } from './sizes.js';

/** Whose forms are still compared at once. */
export const MOST_TILES = 1024;

/** Tiles of one size that an image is cut into. */
export interface Canvas {
  rows: number;
  columns: number;
}

/** Fewest and most tiles of a canvas. */
export interface CanvasLimits {
  least: number;
  most: number;
  tile: Edges;
}

/** The canvas whose form is nearest to the image's; of several the last one that is not twice as large as the image. */
export function bestCanvas({ height, width }: Edges, { least, most, tile }: CanvasLimits): Canvas {
  const ratio = width / height;
  let best: Canvas = { rows: 1, columns: 1 };
  let difference = Infinity;
  for (const canvas of canvases(least, most)) {
    const own = Math.abs(ratio - canvas.columns / canvas.rows);
    const area = 0.5 * tile.height * tile.width * canvas.columns * canvas.rows;
    if (own > difference || (own === difference && width * height <= area)) continue;
    difference = own;
    best = canvas;
  }
  return best;
}

/** The smallest canvas that the image is not reduced for, or the one that it is least reduced for. Squares alone are tiles. */
export function fittingCanvas(
  { height, width }: Edges,
  { most, tile: { height: edge } }: CanvasLimits,
): Canvas {
  const all = canvases(1, most);
  const scaleOf = ({ rows, columns }: Canvas) => Math.min((columns * edge) / width, (rows * edge) / height);
  const scales = all.map(scaleOf);
  const enough = scales.filter((scale) => scale >= 1);
  return all[scales.indexOf(enough.length > 0 ? Math.min(...enough) : Math.max(...scales))]!;
}

/** All canvases of so many tiles, small ones first, and of those narrow ones first. */
export function canvases(least: number, most: number): Canvas[] {
  const all: Canvas[] = [];
  for (let columns = 1; columns <= most; columns++)
    for (let rows = 1; rows * columns <= most; rows++)
      if (rows * columns >= least) all.push({ rows, columns });
  return all.toSorted((a, b) => a.rows * a.columns - b.rows * b.columns);
}

/** One tile of a canvas. */
export function cut(image: Image, row: number, column: number, tile: Edges): Image {
  return cutOut(image, { ...tile, top: row * tile.height, left: column * tile.width });
}
