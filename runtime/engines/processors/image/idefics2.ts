import { RunError } from '../../../core/errors.js';
import type { Image } from '../../../media/decoded-image.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { HALVES, planesOf, readLevels } from './levels.js';
import { cutOut, type Region } from './regions.js';
import { resizerOf } from './resizer.js';
import type { Edges } from './sizes.js';

/** Makes images of any form of quarters of an image, with the whole one as the last, or of the whole one alone. */
export interface QuarterProcessor {
  /** Sizes of the images. @throws RunError 422 an image that Python's processor fails on, or reads otherwise */
  partsOf(size: Edges): Edges[];
  /** Values [3, height, width] of each, made when they are asked for. @throws as `partsOf` */
  process(image: Image): (() => Float32Array)[];
  /** Whether images are cut. */
  readonly splits: boolean;
  /** Longest edge of what comes out. */
  readonly longest: number;
}

const BILINEAR = 2;

/**
 * Idefics2ImageProcessor, from preprocessor_config.json.
 * @throws RunError not_ready for settings that are not supported
 */
export function createQuarterProcessor(config: Json): QuarterProcessor {
  const levels = readLevels(config, HALVES);
  const resizer = resizerOf({ resample: BILINEAR, ...config });
  const splits = config['do_image_splitting'] === true;
  if (config['do_resize'] === false || config['do_pad'] === false)
    throw new RunError('not_ready', 'preprocessor_config.json: images must be resized and padded');
  const { sizeOf, longest } = sizesOf((config['size'] ?? USUAL) as Json);
  return {
    ...{ splits, longest },
    partsOf: (size) => positionsOf(size, splits).map(sizeOf),
    process: (image) =>
      positionsOf(image, splits).map(
        (place) => () => planesOf(resizer.resize(cutOut(image, place), sizeOf(place)), levels),
      ),
  };
}

const USUAL = { shortest_edge: 378, longest_edge: 980 };

function sizesOf(size: Json): { sizeOf(given: Edges): Edges; longest: number } {
  const [shortest, longest] = [firstNumber(size, 'shortest_edge'), firstNumber(size, 'longest_edge')];
  if (shortest && longest)
    return {
      sizeOf: (given) => within(given, shortest, longest),
      longest: Math.max(shortest, longest),
    };
  const [height, width] = [firstNumber(size, 'height'), firstNumber(size, 'width')];
  if (height && width) return { sizeOf: () => ({ height, width }), longest: Math.max(height, width) };
  throw new RunError('not_ready', `preprocessor_config.json: size ${JSON.stringify(size)} is not supported`);
}

/** The longest edge is one length at most, and then both are another one at least. */
function within({ height, width }: Edges, shortest: number, longest: number): Edges {
  const ratio = width / height;
  const least = (edges: Edges): Edges => ({
    height: Math.max(edges.height, shortest),
    width: Math.max(edges.width, shortest),
  });
  if (width >= height && width > longest)
    return least({ width: longest, height: Math.trunc(longest / ratio) });
  if (height > width && height > longest)
    return least({ height: longest, width: Math.trunc(longest * ratio) });
  return least({ height, width });
}

function positionsOf({ height, width }: Edges, splits: boolean): Region[] {
  // Python takes a first axis of these lengths for the colours.
  if (height === 1 || height === 3 || (splits && width === 1))
    throw new RunError('unprocessable', `the image is only ${Math.min(height, width)} pixels high or wide`);
  const whole = { top: 0, left: 0, height, width };
  if (!splits) return [whole];
  const [down, across] = [Math.floor(height / 2), Math.floor(width / 2)];
  const lines = [
    { top: 0, height: down },
    { top: down, height: height - down },
  ];
  const columns = [
    { left: 0, width: across },
    { left: across, width: width - across },
  ];
  return [...lines.flatMap((line) => columns.map((column) => ({ ...line, ...column }))), whole];
}
