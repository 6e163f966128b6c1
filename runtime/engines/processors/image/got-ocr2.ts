import type { Picture } from '../../../media/picture.js';
import { RunError } from '../../../core/errors.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { CLIP, planesOf, readLevels } from './levels.js';
import { resizerOf } from './resizer.js';
import type { Edges } from './sizes.js';

/** Cuts pictures into tiles of one size, with the whole picture behind them where there are several. */
export interface CanvasProcessor extends Edges {
  /** Tiles of a picture, the whole one included. @throws RunError 422 a picture that is read otherwise in Python */
  tilesOf(size: Edges): number;
  /** Values [3, height, width] of each tile, row by row, made when they are asked for. @throws as `tilesOf` */
  process(picture: Picture): (() => Float32Array)[];
}

const EDGE = 384;
/** Whose forms are still compared at once. */
export const MOST_TILES = 1024;

export interface Canvas {
  rows: number;
  columns: number;
}

/** GotOcr2ImageProcessor as InternVL's processor calls it, which always cuts. From preprocessor_config.json. */
export function createCanvasProcessor(config: Json): CanvasProcessor {
  const value = <T>(name: string, otherwise: T): T => (config[name] ?? otherwise) as T;
  const given = value<Json>('size', { height: EDGE, width: EDGE });
  const [height, width] = [firstNumber(given, 'height'), firstNumber(given, 'width')];
  if (height === undefined || width === undefined || config['do_resize'] === false)
    throw new RunError(
      'not_ready',
      'preprocessor_config.json: pictures must be resized to a height and width',
    );
  const tile = { height, width };
  const limits = { least: value('min_patches', 1), most: value('max_patches', 12), tile };
  if (!(limits.most <= MOST_TILES))
    throw new RunError('not_ready', `preprocessor_config.json: max_patches is more than ${MOST_TILES}`);
  const levels = readLevels(config, CLIP);
  const resizer = resizerOf(config);
  return {
    ...tile,
    tilesOf(size) {
      const { rows, columns } = bestCanvas(resizer.edges(size), limits);
      return rows * columns + (rows * columns > 1 ? 1 : 0);
    },
    process(original) {
      const picture = resizer.seen(original);
      const { rows, columns } = bestCanvas(picture, limits);
      const large = resizer.resize(picture, { height: rows * height, width: columns * width });
      const tiles = Array.from(
        { length: rows * columns },
        (_, i) => () => planesOf(cut(large, Math.floor(i / columns), i % columns, tile), levels),
      );
      if (tiles.length === 1) return tiles;
      return [...tiles, () => planesOf(resizer.resize(picture, tile), levels)];
    },
  };
}

/** Fewest and most tiles of a canvas. */
export interface CanvasLimits {
  least: number;
  most: number;
  tile: Edges;
}

/** The canvas whose form is nearest to the picture's; of several the last one that is not twice as large as the picture. */
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

/** All canvases of so many tiles, small ones first, and of those narrow ones first. */
export function canvases(least: number, most: number): Canvas[] {
  const all: Canvas[] = [];
  for (let columns = 1; columns <= most; columns++)
    for (let rows = 1; rows * columns <= most; rows++)
      if (rows * columns >= least) all.push({ rows, columns });
  return all.toSorted((a, b) => a.rows * a.columns - b.rows * b.columns);
}

/** One tile of a canvas. */
export function cut({ data, width, channels }: Picture, row: number, column: number, tile: Edges): Picture {
  const part = new Uint8Array(tile.height * tile.width * channels);
  const line = tile.width * channels;
  for (let y = 0; y < tile.height; y++) {
    const from = ((row * tile.height + y) * width + column * tile.width) * channels;
    part.set(data.subarray(from, from + line), y * line);
  }
  return { data: part, width: tile.width, height: tile.height, channels };
}
