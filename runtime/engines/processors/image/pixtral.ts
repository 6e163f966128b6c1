import { RunError } from '../../../core/errors.js';
import type { Image } from '../../../media/decoded-image.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { CLIP, planesOf, readLevels } from './levels.js';
import { resizerOf } from './resizer.js';
import type { Edges } from './sizes.js';
import type { Frame } from './tensor-frames.js';

/** Images that keep their form, up to whole cells and a longest edge. */
export interface CellProcessor {
  /** Most cells of an image. */
  readonly mostCells: number;
  /** @throws RunError 422 an image that is read otherwise in Python */
  sizeOf(size: Edges): Edges;
  /** @throws as `sizeOf` */
  process(image: Image): Frame;
}

const EDGE = 1024;

/** PixtralImageProcessor, from preprocessor_config.json. @param cell edge of a cell */
export function createPixtralProcessor(config: Json, cell: number): CellProcessor {
  const size = (config['size'] ?? { longest_edge: EDGE }) as Json;
  const longest = firstNumber(size, 'longest_edge');
  const [height, width] = [longest ?? firstNumber(size, 'height'), longest ?? firstNumber(size, 'width')];
  if (height === undefined || width === undefined || config['do_resize'] === false)
    throw new RunError('not_ready', 'preprocessor_config.json: images must be resized to a longest edge');
  const levels = readLevels(config, CLIP);
  const resizer = resizerOf(config);
  const sizeOf = (given: Edges) => wholeCells(within(given, { height, width }), cell);
  return {
    mostCells: Math.ceil(height / cell) * Math.ceil(width / cell),
    sizeOf: (given) => sizeOf(resizer.edges(given)),
    process(given) {
      const image = resizer.seen(given);
      const to = sizeOf(image);
      return { ...to, values: planesOf(resizer.resize(image, to), levels) };
    },
  };
}

/** get_resize_output_image_size: never larger than the limits. */
function within({ height, width }: Edges, limit: Edges): Edges {
  const ratio = Math.max(height / limit.height, width / limit.width);
  if (ratio <= 1) return { height, width };
  return { height: Math.floor(height / ratio), width: Math.floor(width / ratio) };
}

function wholeCells({ height, width }: Edges, cell: number): Edges {
  const up = (edge: number) => (Math.floor((edge - 1) / cell) + 1) * cell;
  if (height > 0 && width > 0) return { height: up(height), width: up(width) };
  throw new RunError('unprocessable', 'one edge of the image is too long for the other');
}
