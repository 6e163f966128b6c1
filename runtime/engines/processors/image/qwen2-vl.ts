import { roundHalfEven } from '../../../core/round-half-even.js';
import { RunError } from '../../../core/errors.js';
import { finish } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { CLIP, levelTable, type LevelSettings, readLevels } from './levels.js';
import type { Edges } from './sizes.js';
import { resizedLikeTorch } from './torch-resize.js';

/** An image as rows of patches. */
export interface Patches {
  /** [patches, channels x frames x patch x patch]: blocks of patches that become one feature lie together. */
  values: Float32Array;
  /** Patches over time, height and width. */
  grid: readonly [number, number, number];
}

export interface PatchProcessor {
  /** Edge of the blocks of patches that become one feature. */
  readonly mergeSize: number;
  /** Most patches of an image. */
  readonly mostPatches: number;
  /** Patches over time, height and width of an image of a size. @throws RunError as `process` */
  gridOf(size: Edges): Patches['grid'];
  /** @throws RunError 422 an image that Python's processor fails on */
  process(image: Image): Patches;
}

/** As a PatchProcessor, for the frames of a clip. */
export interface FramePatchProcessor extends Pick<PatchProcessor, 'mergeSize' | 'mostPatches'> {
  /** As that of a PatchProcessor. @param resized true for a size that is final */
  gridOf(size: Edges, resized?: boolean): Patches['grid'];
  /** Frames that become one step over time. */
  readonly together: number;
  resize(frame: Image): Image;
  /** Patches of one step over time. @param frames `together` of them, resized */
  cut(frames: readonly Image[]): Float32Array;
}

const BICUBIC = 3;

/** Pixels of an image where the file does not say. */
const USUAL = { least: 56 * 56, most: 28 * 28 * 1280 };
const USUAL_OF_PADDLE = { least: 384 * 384, most: 1536 * 1536 };
const USUAL_OF_CLIPS = { least: 128 * 28 * 28, most: 28 * 28 * 768 };

/** Qwen2VLImageProcessorFast, which transformers takes for its slow twin, too. From preprocessor_config.json. */
export const createPatchProcessor = (config: Json): PatchProcessor =>
  ofImages(patchRules(config, { usual: USUAL }));

/**
 * PaddleOCRVLImageProcessor: images that are narrower than a cell are enlarged first.
 * @throws RunError `not_ready` for patches over time, which its network does not take
 */
export function createPaddlePatchProcessor(config: Json): PatchProcessor {
  const { temporal_patch_size: frames = 1 } = config;
  if (frames !== 1)
    throw new RunError(
      'not_ready',
      'preprocessor_config.json: temporal_patch_size other than 1 is not known',
    );
  const whole = { ...config, temporal_patch_size: 1 };
  return ofImages(patchRules(whole, { usual: USUAL_OF_PADDLE, before: atLeastACell }));
}

/** At least as long as a cell on both edges, in the same proportion. */
function atLeastACell(given: Edges, factor: number): Edges {
  let { height, width } = given;
  if (height < factor) [height, width] = [factor, roundHalfEven((width * factor) / height)];
  if (width < factor) [height, width] = [roundHalfEven((height * factor) / width), factor];
  return { height, width };
}

export function ofImages(rules: FramePatchProcessor): PatchProcessor {
  const { mergeSize, mostPatches, gridOf, resize, cut, together } = rules;
  return {
    ...{ mergeSize, mostPatches, gridOf: (size) => gridOf(size) },
    process(given) {
      const image = resize(given);
      // An image is repeated to be as many frames.
      return { values: cut(new Array<Image>(together).fill(image)), grid: gridOf(image, true) };
    },
  };
}

/** Qwen2VLVideoProcessor, from video_preprocessor_config.json. */
export function createFramePatchProcessor(config: Json): FramePatchProcessor {
  return patchRules(config, { usual: USUAL_OF_CLIPS });
}

export interface SizeRules {
  /** Pixels of an image where the file does not say. */
  usual: { least: number; most: number };
  /** What a size becomes first. @param factor edge of a cell */
  before?: (given: Edges, factor: number) => Edges;
  /** Cells that edges are multiples of; one if absent. */
  cells?: number;
  /** The pixels of all frames of a step are counted together. */
  countsFrames?: boolean;
}

export function patchRules(
  config: Json,
  { usual, before = (given) => given, cells = 1, countsFrames = false }: SizeRules,
): FramePatchProcessor {
  const value = <T>(name: string, otherwise: T): T => (config[name] ?? otherwise) as T;
  const [patch, merge, frames] = [
    value('patch_size', 14),
    value('merge_size', 2),
    value('temporal_patch_size', 2),
  ];
  const size = value<Json>('size', {});
  const limits = {
    least: firstNumber(config, 'min_pixels') ?? firstNumber(size, 'shortest_edge') ?? usual.least,
    most: firstNumber(config, 'max_pixels') ?? firstNumber(size, 'longest_edge') ?? usual.most,
  };
  const counted = countsFrames ? frames : 1;
  const levels = readLevels(config, CLIP);
  const resample = value('resample', BICUBIC);
  const doResize = value('do_resize', true);
  const sizeOf = (seen: Edges): Edges => {
    const factor = patch * merge * cells;
    const to = smartSize(before(seen, factor), {
      ...{ factor, ...limits, frames: { given: counted, rounded: counted } },
    });
    return doResize ? to : { height: seen.height, width: seen.width };
  };
  return {
    mergeSize: merge,
    mostPatches: doResize
      ? Math.max((merge * cells) ** 2, Math.floor(limits.most / counted / patch ** 2))
      : Infinity,
    together: frames,
    gridOf: (size, resized = false) => gridOf(resized ? size : sizeOf(size), patch, merge),
    resize(image) {
      const to = sizeOf(image);
      const isSame = to.width === image.width && to.height === image.height;
      return isSame ? image : finish(resizedLikeTorch(image, to, resample));
    },
    cut: (images) => cutPatches(images, { patch, merge, levels }),
  };
}

export interface SmartLimits {
  /** Of which edges become multiples. */
  factor: number;
  /** Fewest and most pixels. */
  least: number;
  most: number;
  /** Of a clip, where its pixels are those of all frames: how many there are, and that number rounded. */
  frames?: { given: number; rounded: number };
}

const ONE = { given: 1, rounded: 1 };

/** Longest edge by the shortest one. */
const MAX_RATIO = 200;

/**
 * Python's smart_resize: both edges become multiples of a factor, halves to even ones; then both are scaled until the
 * pixels are within their limits.
 * @throws RunError 422 an image too long for its width
 */
export function smartSize(
  { height, width }: Edges,
  { factor, least, most, frames = ONE }: SmartLimits,
): Edges {
  if (Math.max(height, width) / Math.min(height, width) > MAX_RATIO)
    throw new RunError(
      'unprocessable',
      `one edge of the image is over ${MAX_RATIO} times as long as the other`,
    );
  const rounded = {
    height: roundHalfEven(height / factor) * factor,
    width: roundHalfEven(width / factor) * factor,
  };
  const pixels = frames.rounded * rounded.height * rounded.width;
  if (pixels > most) {
    const beta = Math.sqrt((frames.given * height * width) / most);
    const edge = (length: number) => Math.max(factor, Math.floor(length / beta / factor) * factor);
    return { height: edge(height), width: edge(width) };
  }
  if (pixels < least) {
    const beta = Math.sqrt(least / (frames.given * height * width));
    const edge = (length: number) => Math.ceil((length * beta) / factor) * factor;
    return { height: edge(height), width: edge(width) };
  }
  return rounded;
}

export interface PatchSettings {
  patch: number;
  merge: number;
  levels: LevelSettings;
}

export function gridOf({ height, width }: Edges, patch: number, merge: number): Patches['grid'] {
  const [rows, columns] = [Math.floor(height / patch), Math.floor(width / patch)];
  if (rows % merge === 0 && columns % merge === 0 && rows > 0 && columns > 0) return [1, rows, columns];
  throw new RunError('unprocessable', 'the image has no whole number of patches');
}

/** Rows of patches of one step over time. */
export function cutPatches(frames: readonly Image[], { patch, merge, levels }: PatchSettings): Float32Array {
  const [image] = frames as [Image];
  const { width, channels } = image;
  const [, rows, columns] = gridOf(image, patch, merge);
  const area = patch * patch;
  const values = new Float32Array(rows * columns * channels * frames.length * area);
  const tables = Array.from({ length: channels }, (_, channel) => levelTable(channel, levels));
  let at = 0;
  for (let index = 0; index < rows * columns; index++) {
    const { row, column } = patchAt(index, columns, merge);
    for (const [channel, table] of tables.entries()) {
      for (const { data } of frames) {
        for (let y = row * patch; y < (row + 1) * patch; y++) {
          let from = (y * width + column * patch) * channels + channel;
          for (let x = 0; x < patch; x++, from += channels) values[at++] = table[data[from]!]!;
        }
      }
    }
  }
  return values;
}

/** Patches go block by block, and within a block row by row. */
function patchAt(index: number, columns: number, merge: number): { row: number; column: number } {
  const block = Math.floor(index / merge / merge);
  const inner = index % (merge * merge);
  const across = columns / merge;
  return {
    row: Math.floor(block / across) * merge + Math.floor(inner / merge),
    column: (block % across) * merge + (inner % merge),
  };
}
