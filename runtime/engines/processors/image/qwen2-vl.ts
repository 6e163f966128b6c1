import { RunError } from '../../../core/errors.js';
import type { Picture } from '../../../media/picture.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { asPythonSees, edgesAsPythonSees } from './image-processor.js';
import { levelTable, type LevelSettings } from './levels.js';
import { resizeLikePillow } from './pillow-resize.js';
import { type Edges, roundHalfEven } from './sizes.js';

/** A picture as rows of patches. */
export interface Patches {
  /** [patches, channels x frames x patch x patch]: blocks of patches that become one feature lie together. */
  values: Float32Array;
  /** Patches over time, height and width. */
  grid: readonly [number, number, number];
}

export interface PatchProcessor {
  /** Edge of the blocks of patches that become one feature. */
  readonly mergeSize: number;
  /** Most patches of a picture. */
  readonly mostPatches: number;
  /** Patches over time, height and width of a picture of a size. @throws RunError as `process` */
  gridOf(size: Edges): Patches['grid'];
  /** @throws RunError 422 a picture that Python's processor fails on */
  process(picture: Picture): Patches;
}

const MEAN = [0.48145466, 0.4578275, 0.40821073];
const STD = [0.26862954, 0.26130258, 0.27577711];
const BICUBIC = 3;

/** Qwen2VLImageProcessor, from preprocessor_config.json. */
export function createPatchProcessor(config: Json): PatchProcessor {
  const value = <T>(name: string, otherwise: T): T => (config[name] ?? otherwise) as T;
  const [patch, merge, frames] = [
    value('patch_size', 14),
    value('merge_size', 2),
    value('temporal_patch_size', 2),
  ];
  const size = value<Json>('size', {});
  const limits = {
    least: firstNumber(config, 'min_pixels') ?? firstNumber(size, 'shortest_edge') ?? 56 * 56,
    most: firstNumber(config, 'max_pixels') ?? firstNumber(size, 'longest_edge') ?? 28 * 28 * 1280,
  };
  const levels: LevelSettings = {
    do_rescale: value('do_rescale', true),
    rescale_factor: value('rescale_factor', 1 / 255),
    rescale_offset: false,
    do_normalize: value('do_normalize', true),
    image_mean: value('image_mean', MEAN),
    image_std: value('image_std', STD),
    include_top: false,
  };
  const resample = value('resample', BICUBIC);
  const doResize = value('do_resize', true);
  const sizeOf = (seen: Edges): Edges => {
    const to = smartSize(seen, { factor: patch * merge, ...limits });
    return doResize ? to : { height: seen.height, width: seen.width };
  };
  return {
    mergeSize: merge,
    mostPatches: doResize ? Math.max(merge ** 2, Math.floor(limits.most / patch ** 2)) : Infinity,
    gridOf: (size) => gridOf(sizeOf(edgesAsPythonSees(size)), patch, merge),
    process(given) {
      const seen = asPythonSees(given);
      const to = sizeOf(seen);
      return cutPatches(resizeLikePillow(seen, to.width, to.height, resample), {
        ...{ patch, merge, frames, levels },
      });
    },
  };
}

/** Longest edge by the shortest one. */
const MAX_RATIO = 200;

/**
 * Python's smart_resize: both edges become multiples of a factor, halves to even ones; then both are scaled until the
 * pixels are within their limits.
 * @throws RunError 422 a picture too long for its width
 */
export function smartSize(
  { height, width }: Edges,
  { factor, least, most }: { factor: number; least: number; most: number },
): Edges {
  if (Math.max(height, width) / Math.min(height, width) > MAX_RATIO)
    throw new RunError(
      'unprocessable',
      `one edge of the picture is over ${MAX_RATIO} times as long as the other`,
    );
  const rounded = {
    height: roundHalfEven(height / factor) * factor,
    width: roundHalfEven(width / factor) * factor,
  };
  const pixels = rounded.height * rounded.width;
  if (pixels > most) {
    const beta = Math.sqrt((height * width) / most);
    const edge = (length: number) => Math.max(factor, Math.floor(length / beta / factor) * factor);
    return { height: edge(height), width: edge(width) };
  }
  if (pixels < least) {
    const beta = Math.sqrt(least / (height * width));
    const edge = (length: number) => Math.ceil((length * beta) / factor) * factor;
    return { height: edge(height), width: edge(width) };
  }
  return rounded;
}

interface PatchSettings {
  patch: number;
  merge: number;
  /** A picture is repeated to be as many frames. */
  frames: number;
  levels: LevelSettings;
}

function gridOf({ height, width }: Edges, patch: number, merge: number): Patches['grid'] {
  const [rows, columns] = [Math.floor(height / patch), Math.floor(width / patch)];
  if (rows % merge === 0 && columns % merge === 0 && rows > 0 && columns > 0) return [1, rows, columns];
  throw new RunError('unprocessable', 'the picture has no whole number of patches');
}

function cutPatches(picture: Picture, { patch, merge, frames, levels }: PatchSettings): Patches {
  const { data, width, channels } = picture;
  const grid = gridOf(picture, patch, merge);
  const [, rows, columns] = grid;
  const area = patch * patch;
  const values = new Float32Array(rows * columns * channels * frames * area);
  const tables = Array.from({ length: channels }, (_, channel) => levelTable(channel, levels));
  let at = 0;
  for (let index = 0; index < rows * columns; index++) {
    const { row, column } = patchAt(index, columns, merge);
    for (const [channel, table] of tables.entries()) {
      const first = at;
      for (let y = row * patch; y < (row + 1) * patch; y++) {
        let from = (y * width + column * patch) * channels + channel;
        for (let x = 0; x < patch; x++, from += channels) values[at++] = table[data[from]!]!;
      }
      for (let frame = 1; frame < frames; frame++, at += area) values.copyWithin(at, first, first + area);
    }
  }
  return { values, grid };
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
