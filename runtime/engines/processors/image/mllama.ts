import { RunError } from '../../../core/errors.js';
import type { Image } from '../../../media/decoded-image.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import type { Canvas } from './canvas.js';
import { HALVES, levelTable, planesBy, readLevels } from './levels.js';
import { BLACK, cutOut, placedOn } from './regions.js';
import { resizerOf } from './resizer.js';
import type { Edges } from './sizes.js';

/** Cuts images into tiles of one size, black where an image ends. */
export interface TiledCanvas {
  /** Of a tile. */
  readonly edge: number;
  /** All canvases in the order of their ids, the first of which is 1. */
  readonly canvases: readonly Canvas[];
  /** @throws RunError 422 an image that is read otherwise in Python */
  canvasOf(size: Edges): Canvas;
  /** Values [most tiles, 3, edge, edge], row by row; zeros behind the last tile. @throws as `canvasOf` */
  process(image: Image): Float32Array;
}

const BILINEAR = 2;
/** Tiles that the network knows at most. */
const MOST_TILES = 64;

const refused = (what: string): RunError => new RunError('not_ready', `preprocessor_config.json: ${what}`);

/**
 * MllamaImageProcessor, from preprocessor_config.json.
 * @throws RunError `not_ready` for settings that it fails with, or that are not known
 */
export function createTiledCanvas(config: Json): TiledCanvas {
  const [edge, most] = [edgeOf(config), mostOf(config)];
  const resizer = resizerOf({ ...config, resample: config['resample'] ?? BILINEAR });
  const tables = [0, 1, 2].map((channel) => levelTable(channel, readLevels(config, HALVES)));
  const all = canvasesOf(most);
  const canvasOf = (size: Edges) => fitting(resizer.edges(size), all, edge);
  return {
    ...{ edge, canvases: all, canvasOf },
    process(given) {
      const image = resizer.seen(given);
      const canvas = fitting(image, all, edge);
      const { rows, columns } = canvas;
      const fitted = resizer.resize(image, sizeWithin(image, canvas, edge));
      const whole = placedOn(fitted, {
        height: rows * edge,
        width: columns * edge,
        top: 0,
        left: 0,
        colour: BLACK,
      });
      const size = 3 * edge * edge;
      const values = new Float32Array(most * size);
      for (let i = 0; i < rows * columns; i++) {
        const [top, left] = [Math.floor(i / columns) * edge, (i % columns) * edge];
        values.set(planesBy(cutOut(whole, { top, left, height: edge, width: edge }), tables), i * size);
      }
      return values;
    },
  };
}

function edgeOf(config: Json): number {
  const given = (config['size'] ?? { height: 224, width: 224 }) as Json;
  const [height, width] = [firstNumber(given, 'height'), firstNumber(given, 'width')];
  if (height === undefined || height !== width) throw refused('size must be a height and an equal width');
  for (const name of ['do_resize', 'do_pad'])
    if (config[name] === false) throw refused(`${name} must be true, as Python has it`);
  return height;
}

function mostOf(config: Json): number {
  const most = config['max_image_tiles'] ?? 4;
  if (typeof most === 'number' && Number.isInteger(most) && most >= 1 && most <= MOST_TILES) return most;
  throw refused(`max_image_tiles is no number from 1 to ${MOST_TILES}`);
}

/** get_all_supported_aspect_ratios */
function canvasesOf(most: number): Canvas[] {
  const numbers = Array.from({ length: most }, (_, i) => i + 1);
  return numbers.flatMap((rows) =>
    numbers.flatMap((columns) => (rows * columns <= most ? [{ rows, columns }] : [])),
  );
}

/** The canvas that enlarges an image least, or else makes it smaller least; of several the first of the least area. */
function fitting({ height, width }: Edges, all: readonly Canvas[], edge: number): Canvas {
  const scales = all.map(({ rows, columns }) => Math.min((rows * edge) / height, (columns * edge) / width));
  const larger = scales.filter((scale) => scale >= 1);
  const chosen = larger.length > 0 ? Math.min(...larger) : Math.max(...scales);
  const found = all.filter((_, i) => scales[i] === chosen);
  const area = ({ rows, columns }: Canvas) => rows * columns;
  return found.reduce((best, one) => (area(one) < area(best) ? one : best));
}

/** get_image_size_fit_to_canvas */
function sizeWithin({ height, width }: Edges, { rows, columns }: Canvas, edge: number): Edges {
  const target = (own: number, count: number) => Math.min(Math.max(own, edge), count * edge);
  const [high, wide] = [target(height, rows), target(width, columns)];
  const [scaleH, scaleW] = [high / height, wide / width];
  const along = (own: number, scale: number, most: number) => Math.min(Math.floor(own * scale) || 1, most);
  return scaleW < scaleH
    ? { height: along(height, scaleW, high), width: wide }
    : { height: high, width: along(width, scaleH, wide) };
}
