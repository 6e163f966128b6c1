import type { Image } from '../../../media/decoded-image.js';
import { RunError } from '../../../core/errors.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { bestCanvas, type Canvas, type CanvasLimits, cut, fittingCanvas, MOST_TILES } from './canvas.js';
import { CLIP, planesOf, readLevels } from './levels.js';
import { type Resizer, resizerOf, torchResizer } from './resizer.js';
import type { Edges } from './sizes.js';

/** Cuts images into tiles of one size, with the whole image behind them where there are several. */
export interface CanvasProcessor extends Edges {
  /** Tiles of an image, the whole one included. @throws RunError 422 an image that is read otherwise in Python */
  tilesOf(size: Edges): number;
  /** Rows and columns of tiles. @throws as `tilesOf` */
  gridOf(size: Edges): Canvas;
  /** Values [3, height, width] of each tile, row by row, made when they are asked for. @throws as `tilesOf` */
  process(image: Image): (() => Float32Array)[];
}

export interface CanvasRules {
  /** Edge of a tile where the file does not say. */
  edge: number;
  canvasOf(size: Edges, limits: CanvasLimits): Canvas;
  resizer: Resizer;
}

/** GotOcr2ImageProcessor as InternVL's processor calls it, which always cuts. From preprocessor_config.json. */
export const createCanvasProcessor = (config: Json, resizer = resizerOf(config)): CanvasProcessor =>
  canvasProcessor(config, { edge: 384, canvasOf: bestCanvas, resizer });

/** GotOcr2ImageProcessor as its own processor calls it, which never cuts. */
export const createWholeProcessor = (config: Json, resizer = resizerOf(config)): CanvasProcessor =>
  createCanvasProcessor({ ...config, min_patches: 1, max_patches: 1 }, resizer);

/** Cohere2VisionImageProcessor of transformers 5, which reads no fewest number of tiles. @throws RunError `not_ready` for other tiles than squares */
export function createFittingProcessor(config: Json): CanvasProcessor {
  const own = { ...config, ...(config['crop_to_patches'] === false && { max_patches: 1 }) };
  const rules = { edge: 512, canvasOf: fittingCanvas, resizer: torchResizer(config) };
  const found = canvasProcessor(own, rules);
  if (found.height === found.width) return found;
  throw new RunError('not_ready', 'preprocessor_config.json: size is no square');
}

export function canvasProcessor(config: Json, { edge, canvasOf, resizer }: CanvasRules): CanvasProcessor {
  const value = <T>(name: string, otherwise: T): T => (config[name] ?? otherwise) as T;
  const given = value<Json>('size', { height: edge, width: edge });
  const [height, width] = [firstNumber(given, 'height'), firstNumber(given, 'width')];
  if (height === undefined || width === undefined || config['do_resize'] === false)
    throw new RunError('not_ready', 'preprocessor_config.json: images must be resized to a height and width');
  const tile = { height, width };
  const limits = { least: value('min_patches', 1), most: value('max_patches', 12), tile };
  if (!(limits.most >= 1 && limits.most <= MOST_TILES))
    throw new RunError('not_ready', `preprocessor_config.json: max_patches is not from 1 to ${MOST_TILES}`);
  const levels = readLevels(config, CLIP);
  return {
    ...tile,
    gridOf: (size) => canvasOf(resizer.edges(size), limits),
    tilesOf(size) {
      const { rows, columns } = canvasOf(resizer.edges(size), limits);
      return rows * columns + (rows * columns > 1 ? 1 : 0);
    },
    process(original) {
      const image = resizer.seen(original);
      const { rows, columns } = canvasOf(image, limits);
      const large = resizer.resize(image, { height: rows * height, width: columns * width });
      const tiles = Array.from(
        { length: rows * columns },
        (_, i) => () => planesOf(cut(large, Math.floor(i / columns), i % columns, tile), levels),
      );
      if (tiles.length === 1) return tiles;
      return [...tiles, () => planesOf(resizer.resize(image, tile), levels)];
    },
  };
}
