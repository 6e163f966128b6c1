import { roundHalfEven } from '../../../core/round-half-even.js';
import { RunError } from '../../../core/errors.js';
import type { Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import type { Json } from '../../repository/model-folder.js';
import type { Size } from './geometry.js';
import { resizeSteps } from './pillow-resize.js';
import type { Padding, ProcessorSettings } from './processor-settings.js';
import { type Edges, shortestEdgeWithin } from './sizes.js';

/** @throws RunError `not_ready` for settings of semantic segmentation, which cut an image into several */
export function eomtSettings(config: Json): Json {
  if (!config['do_split_image']) return config;
  throw new RunError(
    'not_ready',
    'preprocessor_config.json: do_split_image is not supported: EoMT finds panoptic segments and instances here',
  );
}

/** The shortest edge within the longest one, both rounded; an image that has the shortest edge stays. Version 5 does as DETR. */
export function* eomtResize(image: Image, { size, resample, major }: ProcessorSettings): Steps<Image> {
  const { width, height } = major >= 5 ? newerEdges(image, size) : eomtEdges(image, size);
  return yield* resizeSteps(image, width, height, resample);
}

const newerEdges = (image: Edges, size: Size): Edges =>
  shortestEdgeWithin(image, targetOf(size).height, longestOf(size));

const longestOf = (size: Size): number | undefined =>
  'longest_edge' in size ? size.longest_edge : undefined;

function eomtEdges({ width, height }: Edges, size: Size): Edges {
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  let { height: edge } = targetOf(size);
  const longest = longestOf(size);
  let exact = edge;
  if (longest !== undefined && (long / short) * edge > longest) {
    exact = (longest * short) / long;
    edge = roundHalfEven(exact);
  }
  if (edge < 1) throw new RunError('unprocessable', 'the image is too narrow for this model');
  if (short === edge) return { width, height };
  const other = roundHalfEven((exact * long) / short);
  return width < height ? { width: edge, height: other } : { width: other, height: edge };
}

/** Black at the right and below, up to the shortest edge by the longest. */
export function eomtPadding(size: Edges, settings: ProcessorSettings): Padding {
  const { height, width } = targetOf(settings.size);
  return {
    to: { height: Math.max(size.height, height), width: Math.max(size.width, width) },
    when: 'pixels',
  };
}

function targetOf(size: Size): Edges {
  if ('shortest_edge' in size)
    return { height: size.shortest_edge, width: size.longest_edge ?? size.shortest_edge };
  throw new RunError('not_ready', 'preprocessor_config.json: size has no shortest_edge');
}
