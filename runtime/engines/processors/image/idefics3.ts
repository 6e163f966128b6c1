import { RunError } from '../../../core/errors.js';
import { finish } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { HALVES, levelTable, type LevelSettings, readLevels } from './levels.js';
import { resizeLikePillow } from './pillow-resize.js';
import type { Edges } from './sizes.js';
import { resizedLikeTorch } from './torch-resize.js';

/** Cuts images into squares, with the whole image as the last one. */
export interface TileProcessor {
  /** Edge of the squares in pixels. */
  readonly edge: number;
  /** Undefined for an image that stays whole. @throws RunError 422 an image that is read otherwise in Python */
  partsOf(size: Edges): { rows: number; columns: number } | undefined;
  /** Values [3, edge, edge] of each square, row by row, made when they are asked for. @throws as `partsOf` */
  process(image: Image): (() => Float32Array)[];
}

const LANCZOS = 1;
const BICUBIC = 3;
const EDGE = 364;

/** Makes squares of the frames of a clip. */
export interface FrameProcessor {
  /** Values [3, edge, edge]. */
  process(frame: Image): Float32Array;
}

/** SmolVLMVideoProcessor, from video_preprocessor_config.json. */
export function createFrameProcessor(config: Json): FrameProcessor {
  const resample = config['resample'] ?? LANCZOS;
  const { process } = createTileProcessor(
    {
      ...config,
      // Torch has no Lanczos; Python takes the other one for it.
      ...{ resample: resample === LANCZOS ? BICUBIC : resample, do_image_splitting: false },
      // What stands beside a sampling replaces its size.
      size: config['size'] ?? (config['video_sampling'] as Json | undefined)?.['video_size'],
    },
    { check: () => undefined, resize: (frame, to, filter) => finish(resizedLikeTorch(frame, to, filter)) },
  );
  return { process: (frame) => process(frame)[0]!() };
}

interface TileRules {
  /** Throws for images that Python's processor fails on. */
  check(size: Edges): void;
  resize(image: Image, to: Edges, resample: number): Image;
}

const PILLOW: TileRules = {
  check: refuseThin,
  resize: (image, { width, height }, resample) => resizeLikePillow(image, width, height, resample),
};

/** Idefics3ImageProcessor and SmolVLMImageProcessor, from preprocessor_config.json. */
export function createTileProcessor(config: Json, { check, resize }: TileRules = PILLOW): TileProcessor {
  const value = <T>(name: string, otherwise: T): T => (config[name] ?? otherwise) as T;
  const levels = readLevels(config, HALVES);
  const [resample, splits] = [value('resample', LANCZOS), value('do_image_splitting', true)];
  const edge = firstNumber(value<Json>('max_image_size', { longest_edge: EDGE }), 'longest_edge');
  if (edge === undefined)
    throw new RunError('not_ready', 'preprocessor_config.json: max_image_size has no longest_edge');
  const first = value('do_resize', true) ? firstSize(value<Json>('size', { longest_edge: 4 * EDGE })) : same;
  const second = (size: Edges) => (splits ? wholeTiles(size, edge) : { height: edge, width: edge });
  return {
    edge,
    partsOf(size) {
      check(size);
      const { height, width } = second(first(size));
      const parts = { rows: height / edge, columns: width / edge };
      return parts.rows * parts.columns > 1 ? parts : undefined;
    },
    process(given) {
      check(given);
      const to = (image: Image, size: Edges) =>
        size.width === image.width && size.height === image.height ? image : resize(image, size, resample);
      const once = to(given, first(given));
      const large = to(once, second(once));
      const whole = to(large, { height: edge, width: edge });
      const tiles = whole === large ? [] : corners(large, edge).map((corner) => ({ of: large, ...corner }));
      return [...tiles, { of: whole, top: 0, left: 0 }].map((tile) => () => planes(tile, edge, levels));
    },
  };
}

const same = (size: Edges): Edges => size;

/** Python takes a first axis of these lengths for colour channels. */
function refuseThin({ height }: Edges): void {
  if (height !== 1 && height !== 3 && height !== 4) return;
  throw new RunError('unprocessable', `the image is only ${height} pixels high`);
}

/** Longest edge of all. */
const LONGEST = 4096;

/** What `size` makes of an image. */
function firstSize(size: Json): (given: Edges) => Edges {
  const longest = firstNumber(size, 'longest_edge');
  if (longest !== undefined) return (given) => below(rescaled(given, longest), LONGEST);
  const [height, width] = [firstNumber(size, 'height'), firstNumber(size, 'width')];
  if (height !== undefined && width !== undefined) return () => ({ height, width });
  throw new RunError('not_ready', `preprocessor_config.json: size ${JSON.stringify(size)} is not supported`);
}

/** The longest edge gets a length; the other one becomes even. */
function rescaled({ height, width }: Edges, longest: number): Edges {
  const ratio = width / height;
  const even = (length: number) => Math.max(1, length + (length % 2));
  return width >= height
    ? { width: longest, height: even(Math.trunc(longest / ratio)) }
    : { height: longest, width: even(Math.trunc(longest * ratio)) };
}

function below({ height, width }: Edges, longest: number): Edges {
  if (Math.max(height, width) <= longest) return { height, width };
  const ratio = width / height;
  return width >= height
    ? { width: longest, height: Math.max(1, Math.trunc(longest / ratio)) }
    : { height: longest, width: Math.max(1, Math.trunc(longest * ratio)) };
}

/** Both edges up to whole squares, the longest one first. */
function wholeTiles({ height, width }: Edges, edge: number): Edges {
  const ratio = width / height;
  const up = (length: number) => Math.ceil(length / edge) * edge;
  if (width >= height) return { width: up(width), height: up(Math.trunc(up(width) / ratio)) };
  return { height: up(height), width: up(Math.trunc(up(height) * ratio)) };
}

interface Corner {
  top: number;
  left: number;
}

function corners({ width, height }: Edges, edge: number): Corner[] {
  const columns = width / edge;
  return Array.from({ length: (height / edge) * columns }, (_, i) => ({
    top: Math.floor(i / columns) * edge,
    left: (i % columns) * edge,
  }));
}

function planes(
  { of: { data, width, channels }, top, left }: Corner & { of: Image },
  edge: number,
  levels: LevelSettings,
): Float32Array {
  const values = new Float32Array(3 * edge * edge);
  let at = 0;
  for (let channel = 0; channel < 3; channel++) {
    const table = levelTable(channel, levels);
    for (let y = top; y < top + edge; y++) {
      let from = (y * width + left) * channels + channel;
      for (let x = 0; x < edge; x++, from += channels) values[at++] = table[data[from]!]!;
    }
  }
  return values;
}
