import { RunError } from '../../../core/errors.js';
import type { Image } from '../../../media/decoded-image.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { CLIP, planesOf, readLevels } from './levels.js';
import { centredOn } from './regions.js';
import { resizerOf } from './resizer.js';
import type { Edges } from './sizes.js';

/** Makes squares of images, with bars at two sides. */
export interface BarredProcessor {
  readonly edge: number;
  /** Values [3, edge, edge]. @throws RunError 422 an image that Python's processor fails on */
  process(image: Image): Float32Array;
  /** The square before its levels are scaled. @throws as `process` */
  square(image: Image): Image;
  /** Values of such a square. */
  values(square: Image): Float32Array;
}

const [EDGE, LEAST, GREY] = [384, 14, 127];

/**
 * DeepseekVLImageProcessor, from preprocessor_config.json.
 * @param options.bars their colour, where it is not that of the means; `whole` makes edges whole pixels
 * @throws RunError not_ready for settings that are not supported
 */
export function createBarredProcessor(
  config: Json,
  {
    bars = barsOf(config),
    whole = Math.trunc,
  }: { bars?: readonly number[]; whole?: (edge: number) => number } = {},
): BarredProcessor {
  const levels = readLevels(config, CLIP);
  const resizer = resizerOf(config);
  const size = (config['size'] ?? { height: EDGE, width: EDGE }) as Json;
  const [edge, width] = [firstNumber(size, 'height'), firstNumber(size, 'width')];
  const least = firstNumber(config, 'min_size') ?? LEAST;
  if (edge === undefined || edge !== width || least > edge)
    throw new RunError('not_ready', 'preprocessor_config.json: size is no square of min_size at least');
  if (config['do_resize'] === false || config['do_pad'] === false)
    throw new RunError('not_ready', 'preprocessor_config.json: images must be resized and padded');
  const fitted = ({ height, width }: Edges): Edges => {
    const scale = edge / Math.max(height, width);
    return {
      height: Math.max(whole(height * scale), least),
      width: Math.max(whole(width * scale), least),
    };
  };
  const square = (given: Image) => {
    const image = resizer.seen(given);
    return squared(resizer.resize(image, fitted(image)), edge, bars);
  };
  const values = (image: Image) => planesOf(image, levels);
  return { edge, square, values, process: (given) => values(square(given)) };
}

/** The colour of the means, be they those of the class. */
export const meansOf = (config: Json): number[] =>
  readLevels(config, CLIP).image_mean.map((mean) => Math.trunc(mean * 255));

/** The colour of the means, and grey where a file names none. */
export function barsOf(config: Json): number[] {
  const { image_mean: means } = readLevels(config, CLIP);
  return config['image_mean'] == null ? means.map(() => GREY) : means.map((mean) => Math.trunc(mean * 255));
}

/** An image in the middle of a square of a colour. @throws RunError 422 where rounding has left it smaller than the square */
function squared(image: Image, edge: number, colour: readonly number[]): Image {
  if (Math.max(image.height, image.width) !== edge)
    throw new RunError('unprocessable', `an image of these edges does not become ${edge} pixels long`);
  return centredOn(image, { height: edge, width: edge }, colour);
}
