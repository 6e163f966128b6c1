import { RunError } from '../../../core/errors.js';
import type { Picture } from '../../../media/picture.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { asPythonSees, edgesAsPythonSees } from './image-processor.js';
import { CLIP, planesOf, readLevels } from './levels.js';
import { resizeLikePillow } from './pillow-resize.js';
import { centredOn, cutOut } from './regions.js';
import type { Edges } from './sizes.js';

/** Cuts pictures into squares of the best of several sizes, behind the whole picture as one square. */
export interface AnyresProcessor {
  /** Edge of the squares in pixels. */
  readonly edge: number;
  /** Sizes that pictures are fitted into, [height, width]. */
  readonly sizes: readonly (readonly [number, number])[];
  /** Rows and columns of squares. @throws RunError 422 a picture that Python's processor fails on */
  partsOf(size: Edges): { rows: number; columns: number };
  /** Values [3, edge, edge] of the whole picture and of each square, row by row. @throws as `partsOf` */
  process(picture: Picture): (() => Float32Array)[];
  /** Of the whole picture alone, with bars that make it a square. @throws as `partsOf` */
  square(picture: Picture): () => Float32Array;
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
  const to = (picture: Picture, { height, width }: Edges) =>
    resizeLikePillow(picture, width, height, resample);
  const planes = (picture: Picture) => () => planesOf(picture, levels);
  const square = { height: edge, width: edge };
  return {
    ...{ edge, sizes },
    partsOf(size) {
      const [height, width] = bestSize(edgesAsPythonSees(size), sizes);
      return { rows: Math.ceil(height / edge), columns: Math.ceil(width / edge) };
    },
    process(given) {
      const picture = asPythonSees(given);
      const best = bestSize(picture, sizes);
      const fitted = centredOn(to(picture, fittedInto(picture, best)), { height: best[0], width: best[1] });
      return [to(picture, square), ...squaresOf(fitted, edge)].map(planes);
    },
    square(given) {
      const picture = asPythonSees(given);
      const longest = Math.max(picture.width, picture.height);
      const bars = levels.image_mean.map((mean) => Math.trunc(mean * 255));
      const whole = centredOn(picture, { height: longest, width: longest }, bars);
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

/** The size that keeps most of a picture, and of those the one that wastes least: select_best_resolution. */
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
function squaresOf(picture: Picture, edge: number): Picture[] {
  const squares: Picture[] = [];
  for (let top = 0; top < picture.height; top += edge)
    for (let left = 0; left < picture.width; left += edge)
      squares.push(cutOut(picture, { top, left, height: edge, width: edge }));
  return squares;
}
