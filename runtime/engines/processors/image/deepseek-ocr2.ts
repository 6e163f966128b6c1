import { roundHalfEven } from '../../../core/round-half-even.js';
import { RunError } from '../../../core/errors.js';
import type { Image } from '../../../media/decoded-image.js';
import { DEEPSEEK_OCR2 } from '../../../hub-config/image-edges.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { bestCanvas, cut } from './canvas.js';
import { HALVES, planesOf, readLevels } from './levels.js';
import { centredOn } from './regions.js';
import { resizerOf } from './resizer.js';
import type { Edges } from './sizes.js';

/** A whole image in the middle of a square, and tiles of it where it is large. */
export interface WholeAndTiles {
  /** @throws RunError 422 an image that Python's processor fails on, or reads otherwise */
  tilesOf(size: Edges): number;
  /** Values [3, edge, edge]. @throws as `tilesOf` */
  whole(image: Image): Float32Array;
  /** Values [tiles, 3, tile, tile]. @throws as `tilesOf` */
  tiles(image: Image): Float32Array;
}

const { edge: EDGE, tile: TILE } = DEEPSEEK_OCR2;
const SQUARE = { height: EDGE, width: EDGE };
/** Fewest and most tiles, as its processor asks for them, whatever the file says. */
const LIMITS = { least: 2, most: 6, tile: { height: TILE, width: TILE } };
const GREY = [127, 127, 127];

/**
 * DeepseekOcr2ImageProcessor as its own processor calls it, which cuts whatever the file says.
 * @param config preprocessor_config.json
 * @throws RunError `not_ready` for sizes that its network has no queries for
 */
export function createDeepseekOcr2Processor(config: Json): WholeAndTiles {
  const [levels, resizer] = [readLevels(config, HALVES), resizerOf(config)];
  const size = (config['size'] ?? SQUARE) as Json;
  const sizes = [firstNumber(size, 'height'), firstNumber(size, 'width'), config['tile_size'] ?? TILE];
  if (sizes.join() !== `${EDGE},${EDGE},${TILE}`)
    throw new RunError(
      'not_ready',
      `preprocessor_config.json: size is not ${EDGE}, or tile_size not ${TILE}`,
    );
  const colour = colourOf(config['background_color'] ?? GREY);
  const canvasOf = (seen: Edges) =>
    Math.max(seen.height, seen.width) > TILE ? bestCanvas(seen, LIMITS) : { rows: 0, columns: 0 };
  const tilesOf = (given: Edges) => {
    const seen = resizer.edges(given);
    fitted(seen);
    const { rows, columns } = canvasOf(seen);
    return rows * columns;
  };
  return {
    tilesOf,
    whole(original) {
      const image = resizer.seen(original);
      return planesOf(centredOn(resizer.resize(image, fitted(image)), SQUARE, colour), levels);
    },
    tiles(original) {
      const image = resizer.seen(original);
      const { rows, columns } = canvasOf(image);
      const values = new Float32Array(rows * columns * 3 * TILE * TILE);
      if (values.length === 0) return values;
      const large = resizer.resize(image, { height: rows * TILE, width: columns * TILE });
      for (let i = 0; i < rows * columns; i++) {
        const tile = cut(large, Math.floor(i / columns), i % columns, LIMITS.tile);
        values.set(planesOf(tile, levels), i * 3 * TILE * TILE);
      }
      return values;
    },
  };
}

function fitted({ height, width }: Edges): Edges {
  const scale = EDGE / Math.max(height, width);
  const to = { height: roundHalfEven(height * scale), width: roundHalfEven(width * scale) };
  if (to.height > 0 && to.width > 0) return to;
  throw new RunError('unprocessable', 'one edge of the image is too short for the other');
}

function colourOf(value: unknown): readonly number[] {
  const isLevel = (one: unknown) => typeof one === 'number' && Number.isInteger(one) && one >= 0 && one < 256;
  if (Array.isArray(value) && value.length === 3 && value.every(isLevel)) return value as number[];
  throw new RunError('not_ready', 'preprocessor_config.json: background_color is no list of three levels');
}
