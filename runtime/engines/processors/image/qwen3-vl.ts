import { roundHalfEven } from '../../../core/round-half-even.js';
import { RunError } from '../../../core/errors.js';
import { finish } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { HALVES, readLevels } from './levels.js';
import { cutPatches, gridOf, smartSize } from './qwen2-vl.js';
import type { Edges } from './sizes.js';
import { resizedLikeTorch } from './torch-resize.js';

/** Frames of a clip as patches, where all frames together keep to a number of pixels. */
export interface ClipPatchProcessor {
  /** Edge of the blocks of patches that become one feature. */
  readonly mergeSize: number;
  /** Frames that become one step over time. */
  readonly together: number;
  /** Most patches of a step. */
  readonly mostPatches: number;
  /** Lines and columns of patches. @throws RunError 422 a clip that Python's processor fails on */
  gridOf(size: Edges, frames: number): readonly [rows: number, columns: number];
  /** @param grid of patches, as `gridOf` gave it */
  resize(frame: Image, grid: readonly [rows: number, columns: number]): Image;
  /** Patches of one step over time: [patches, numbers]. @param frames `together` of them, resized */
  cut(frames: readonly Image[]): Float32Array;
}

const BICUBIC = 3;
/** Pixels of a clip where the file does not say. */
const USUAL = { shortest_edge: 128 * 32 * 32, longest_edge: 768 * 32 * 32 };

/** Qwen3VLVideoProcessor, from video_preprocessor_config.json. @throws RunError not_ready for a size without both limits */
export function createClipPatchProcessor(config: Json): ClipPatchProcessor {
  const value = <T>(name: string, otherwise: T): T => (config[name] ?? otherwise) as T;
  const [patch, merge] = [value('patch_size', 16), value('merge_size', 2)];
  const together = value('temporal_patch_size', 2);
  const size = value<Json>('size', USUAL);
  const [least, most] = ['shortest_edge', 'longest_edge'].map((name) => {
    const found = firstNumber(size, name);
    if (found !== undefined) return found;
    throw new RunError('not_ready', `video_preprocessor_config.json: size has no ${name}`);
  }) as [number, number];
  const factor = patch * merge;
  const levels = readLevels(config, HALVES);
  const [resample, doResize] = [value('resample', BICUBIC), value('do_resize', true)];
  const sizeOf = (given: Edges, frames: number): Edges => {
    if (!doResize) return given;
    checkClip(given, frames, { factor, together });
    const rounded = roundHalfEven(frames / together) * together;
    return smartSize(given, { factor, least, most, frames: { given: frames, rounded } });
  };
  return {
    ...{ mergeSize: merge, together },
    mostPatches: doResize ? Math.max(merge ** 2, Math.floor(most / together / patch ** 2)) : Infinity,
    gridOf(given, frames) {
      const [, rows, columns] = gridOf(sizeOf(given, frames), patch, merge);
      return [rows, columns];
    },
    resize(frame, [rows, columns]) {
      const to = { height: rows * patch, width: columns * patch };
      return doResize ? finish(resizedLikeTorch(frame, to, resample)) : frame;
    },
    cut: (frames) => cutPatches(frames, { patch, merge, levels }),
  };
}

function checkClip(
  { height, width }: Edges,
  frames: number,
  { factor, together }: { factor: number; together: number },
): void {
  if (frames < together)
    throw new RunError(
      'unprocessable',
      `${frames} frames are read of the video, and this model wants at least ${together}`,
    );
  if (height < factor || width < factor)
    throw new RunError('unprocessable', `the video is less than ${factor} pixels wide or high`);
}
