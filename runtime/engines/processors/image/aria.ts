import { RunError } from '../../../core/errors.js';
import type { Image } from '../../../media/decoded-image.js';
import { ARIA_EDGE } from '../../../hub-config/image-edges.js';
import type { Json } from '../../repository/model-folder.js';
import { HALVES, planesOf, readLevels } from './levels.js';
import { BLACK, placedOn } from './regions.js';
import { resizerOf } from './resizer.js';
import type { Edges } from './sizes.js';

/** Images at the upper left of a black square. */
export interface SquareProcessor {
  /** Of the square. */
  readonly edge: number;
  /** Edges of the image on it. @throws RunError 422 an image that is read otherwise in Python */
  sizeOf(size: Edges): Edges;
  /** Values [3, edge, edge]. @throws as `sizeOf` */
  process(image: Image): Float32Array;
}

/** Shortest edge where the file does not say. */
const SHORTEST = 336;

/**
 * AriaImageProcessor as its own processor calls it: its square has one size, and nothing is cut, whatever the file says.
 * @param config preprocessor_config.json
 * @throws RunError `not_ready` for settings that it fails with
 */
export function createAriaProcessor(config: Json): SquareProcessor {
  const [levels, resizer] = [readLevels(config, HALVES), resizerOf(config)];
  const shortest = config['min_image_size'] ?? SHORTEST;
  if (typeof shortest !== 'number' || !Number.isInteger(shortest) || shortest < 1 || shortest > ARIA_EDGE)
    throw new RunError(
      'not_ready',
      `preprocessor_config.json: min_image_size is no number from 1 to ${ARIA_EDGE}`,
    );
  const fitted = ({ height, width }: Edges): Edges => {
    const scale = ARIA_EDGE / Math.max(height, width);
    const other = (length: number) => Math.max(Math.trunc(length * scale), shortest);
    return width >= height
      ? { height: other(height), width: ARIA_EDGE }
      : { height: ARIA_EDGE, width: other(width) };
  };
  return {
    edge: ARIA_EDGE,
    sizeOf: (size) => fitted(resizer.edges(size)),
    process(original) {
      const image = resizer.seen(original);
      const square = { height: ARIA_EDGE, width: ARIA_EDGE, top: 0, left: 0, colour: BLACK };
      return planesOf(placedOn(resizer.resize(image, fitted(image)), square), levels);
    },
  };
}
