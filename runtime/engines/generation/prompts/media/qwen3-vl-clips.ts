import { roundHalfEven } from '../../../../core/round-half-even.js';
import { RunError } from '../../../../core/errors.js';
import type { FrameSampling } from '../../../../core/handles/index.js';
import type { Image } from '../../../../media/decoded-image.js';
import type { VideoFacts } from '../../../../media/video.js';
import { createClipPatchProcessor } from '../../../processors/image/qwen3-vl.js';
import { evenlySpaced } from '../../../processors/video/evenly.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { tokenText } from '../../../tokenizers/tokenizer-json.js';
import type { ClipFamily, ClipFiles, EncoderRun, MediumLayout } from './family.js';
import { allFrames, countWithin, rateOf, refuseBoth } from './frame-sampling.js';
import { clipToken } from './image-token.js';
import { ropePositions } from './qwen2-vl.js';

/** Qwen3-VL: each pair of frames becomes an image of its own, behind the time at which it stands. */
export function createQwen3VlClips(files: ClipFiles): ClipFamily {
  const { tokenizer, video } = files;
  const processor = createClipPatchProcessor(video);
  const { mergeSize: merge, together } = processor;
  const token = clipToken(files, '<|video_pad|>');
  const own = (tokenizer.config['extra_special_tokens'] ?? {}) as Json;
  const [before, after] = ['vision_start', 'vision_end'].map(
    (name) => tokenText(own[`${name}_token`]) || `<|${name}|>`,
  ) as [string, string];
  return {
    ...{ ...token, alone: false, mostPatches: processor.mostPatches },
    surrounded: `${before}${token.placeholder}${after}`,
    choose(facts, sampling) {
      const numbers = frameNumbers(facts, sampling, video);
      const [rows, columns] = processor.gridOf(facts, numbers.length);
      const grid = [Math.ceil(numbers.length / together), rows / merge, columns / merge] as const;
      const count = grid[0] * grid[1] * grid[2];
      const clip = { seconds: facts.frames / facts.fps, frames: numbers.map((number) => number / facts.fps) };
      return { numbers, layout: { patches: rows * columns, count, grid, clip } };
    },
    collect({ grid }) {
      const cells = grid!.slice(1).map((edge) => edge * merge) as [number, number];
      let waiting: Image[] = [];
      const cut = (): EncoderRun[] => {
        const frames = waiting;
        waiting = [];
        return [() => inputs(processor.cut(frames), cells)];
      };
      return {
        add(frame) {
          waiting.push(processor.resize(frame, cells));
          return waiting.length === together ? cut() : [];
        },
        end() {
          if (waiting.length === 0) return [];
          // The last frame again, to be as many as belong together.
          while (waiting.length < together) waiting.push(waiting.at(-1)!);
          return cut();
        },
      };
    },
    expand({ grid, clip }) {
      const [steps, rows, columns] = grid!;
      const image = `${before}${token.placeholder.repeat(rows * columns)}${after}`;
      const times = timesOf(clip!.frames, merge);
      if (times.length < steps)
        throw new RunError(
          'unprocessable',
          'video_preprocessor_config.json: merge_size leaves steps without a time',
        );
      return times
        .slice(0, steps)
        .map((at) => `<${tenths(at)} seconds>${image}`)
        .join('');
    },
    positions: ropePositions,
  };
}

function inputs(values: Float32Array, [rows, columns]: readonly [number, number]): ReturnType<EncoderRun> {
  const patches = rows * columns;
  const sizes = { type: 'int64', data: BigInt64Array.from([1, rows, columns], BigInt), dims: [1, 3] };
  const pixels = { type: 'float32', data: values, dims: [patches, values.length / patches] };
  return { pixel_values: pixels, grid_thw: sizes, image_grid_thw: sizes };
}

/** Seconds halfway between the first and the last frame of each step; Python counts as many frames in one as a cell has patches along an edge. */
function timesOf(frames: NonNullable<MediumLayout['clip']>['frames'], merge: number): number[] {
  return Array.from({ length: Math.ceil(frames.length / merge) }, (_, step) => {
    const [first, last] = [frames[step * merge]!, frames[(step + 1) * merge - 1] ?? frames.at(-1)!];
    return (first + last) / 2;
  });
}

/** As Python writes `.1f`: a quarter goes to the even neighbour. */
function tenths(seconds: number): string {
  const isTie = Math.abs((seconds * 4) % 2) === 1;
  return (isTie ? roundHalfEven(seconds * 10) / 10 : seconds).toFixed(1);
}

/** Frames of a video where the file does not say. */
const [LEAST, MOST] = [4, 768];
/** Frames a second. */
const FPS = 2;

/** Qwen3VLVideoProcessor.sample_frames; all frames where the repository asks for no choice. */
function frameNumbers(facts: VideoFacts, asked: FrameSampling, video: Json): number[] {
  refuseBoth(asked);
  const { frames: total } = facts;
  const { num_frames, fps } = asked;
  const seconds = total / rateOf(facts);
  if (num_frames == null && fps == null && video['do_sample_frames'] === false) return allFrames(total);
  const byRate = () => {
    const wanted = Math.trunc(seconds * (fps ?? firstNumber(video, 'fps') ?? FPS));
    const least = firstNumber(video, 'min_frames') ?? LEAST;
    return Math.min(Math.max(wanted, least), firstNumber(video, 'max_frames') ?? MOST, total);
  };
  const count = countWithin(num_frames ?? byRate(), total);
  return evenlySpaced(0, total - 1, count).map((place) => roundHalfEven(place));
}
