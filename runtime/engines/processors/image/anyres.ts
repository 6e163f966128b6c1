import { RunError } from '../../../core/errors.js';
import type { Image } from '../../../media/decoded-image.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { asPythonSees, edgesAsPythonSees } from './image-processor.js';
import { CLIP, planesOf, readLevels } from './levels.js';
import { resizeLikePillow } from './pillow-resize.js';
import { centredOn, cutOut } from './regions.js';
import type { Edges } from './sizes.js';

/** Cuts images into squares of the best of several sizes, behind the whole image as one square. */
export interface AnyresProcessor {
  /** Edge of the squares in pixels. */
  readonly edge: number;
  /** Sizes that images are fitted into, [height, width]. */
  readonly sizes: readonly (readonly [number, number])[];
  /** Rows and columns of squares. @throws RunError 422 an image that Python's processor fails on */
  partsOf(size: Edges): { rows: number; columns: number };
  /** Values [3, edge, edge] of the whole image and of each square, row by row. @throws as `partsOf` */
  process(image: Image): (() => Float32Array)[];
  /** Of the whole image alone, with bars that make it a square. @throws as `partsOf` */
  square(image: Image): () => Float32Array;
}

const BICUBIC = 3;

/** What repositories leave out, by the kind. */
export interface AnyresDefaults {
  edge: number;
  sizes: readonly (readonly [number, number])[];
}

/**
 * LlavaNextImageProcessor and LlavaOnevisionImageProcessor, from preprocessor_config.json.
 * @throws RunError not_ready for settings that are not supported
 */
export function createAnyresProcessor(config: Json, usual: AnyresDefaults): AnyresProcessor {
  const value = <T>(name: string, otherwise: T): T => (config[name] ?? otherwise) as T;
  const levels = readLevels(config, CLIP);
  const resample = value('resample', BICUBIC);
  const edge = edgeOf(config, usual.edge);
  const sizes = value('image_grid_pinpoints', usual.sizes);
  const to = (image: Image, { height, width }: Edges) => resizeLikePillow(image, width, height, resample);
  const planes = (image: Image) => () => planesOf(image, levels);
  const square = { height: edge, width: edge };
  return {
    ...{ edge, sizes },
    partsOf(size) {
      const [height, width] = bestSize(edgesAsPythonSees(size), sizes);
      return { rows: Math.ceil(height / edge), columns: Math.ceil(width / edge) };
    },
    process(given) {
      const image = asPythonSees(given);
      const best = bestSize(image, sizes);
      const fitted = centredOn(to(image, fittedInto(image, best)), { height: best[0], width: best[1] });
      return [to(image, square), ...squaresOf(fitted, edge)].map(planes);
    },
    square(given) {
      const image = asPythonSees(given);
      const longest = Math.max(image.width, image.height);
      const bars = levels.image_mean.map((mean) => Math.trunc(mean * 255));
      const whole = centredOn(image, { height: longest, width: longest }, bars);
      return planes(to(whole, square));
    },
  };
}

/** Python resizes squares once more where sizes differ, which no repository does. */
function edgeOf(config: Json, usual: number): number {
  const size = (config['size'] ?? { shortest_edge: usual }) as Json;
  const [shortest, height, width] = ['shortest_edge', 'height', 'width'].map((name) =>
    firstNumber(size, name),
  );
  const crop = (config['crop_size'] ?? {}) as Json;
  const edges = [shortest, height, width, firstNumber(crop, 'height'), firstNumber(crop, 'width')];
  const [edge, ...others] = [...new Set(edges.filter((one) => one !== undefined))];
  if (edge !== undefined && others.length === 0 && config['do_resize'] !== false) return edge;
  throw new RunError('not_ready', 'preprocessor_config.json: size and crop_size are not of one square');
}

/** The size that keeps most of an image, and of those the one that wastes least: select_best_resolution. */
function bestSize({ height, width }: Edges, sizes: AnyresProcessor['sizes']): readonly [number, number] {
  let best = sizes[0]!;
  let [most, least] = [0, Infinity];
  for (const size of sizes) {
    const scale = Math.min(size[1] / width, size[0] / height);
    const kept = Math.min(Math.trunc(width * scale) * Math.trunc(height * scale), width * height);
    const wasted = size[0] * size[1] - kept;
    if (kept > most || (kept === most && wasted < least)) [best, most, least] = [size, kept, wasted];
  }
  return best;
}

function fittedInto({ height, width }: Edges, [tall, wide]: readonly [number, number]): Edges {
  const [across, down] = [wide / width, tall / height];
  return across < down
    ? { width: wide, height: Math.min(Math.ceil(height * across), tall) }
    : { height: tall, width: Math.min(Math.ceil(width * down), wide) };
}

/** Squares, row by row. */
function squaresOf(image: Image, edge: number): Image[] {
  const squares: Image[] = [];
  for (let top = 0; top < image.height; top += edge)
    for (let left = 0; left < image.width; left += edge)
      squares.push(cutOut(image, { top, left, height: edge, width: edge }));
  return squares;
}
