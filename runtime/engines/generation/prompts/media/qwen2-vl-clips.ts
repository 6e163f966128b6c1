import { roundHalfEven } from '../../../../core/round-half-even.js';
import type { FrameSampling } from '../../../../core/handles/index.js';
import type { Image } from '../../../../media/decoded-image.js';
import type { VideoFacts } from '../../../../media/video.js';
import { createFramePatchProcessor } from '../../../processors/image/qwen2-vl.js';
import { uniformly } from '../../../processors/video/uniform.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { ClipFamily, ClipFiles, EncoderRun } from './family.js';
import { allFrames, countWithin, rateOf, refuseBoth } from './frame-sampling.js';
import { clipToken } from './image-token.js';
import { ropePositions } from './qwen2-vl.js';

/** Frames a second by which Qwen2.5-VL counts time where the request does not say. */
const FPS = 2;
/** Positions of a second. */
const POSITIONS = 4;

/** Least and most frames of a sampling by `fps`, where the file does not say. */
const [LEAST, MOST] = [4, 768];

/** Qwen2-VL: positions count the steps of a clip. */
export const createQwen2VlClips = (files: ClipFiles): ClipFamily => clipsOf(files, () => 1);

/** Qwen2.5-VL: positions follow the seconds of a step, which Python cuts to a whole number. */
export function createQwen25VlClips(files: ClipFiles): ClipFamily {
  const vision = (files.config['vision_config'] ?? {}) as Json;
  const perSecond = firstNumber(vision, 'tokens_per_second') ?? POSITIONS;
  return clipsOf(files, (seconds) => Math.trunc(seconds) * perSecond);
}

/**
 * Pairs of frames become patches, all of a clip in one run.
 * @param timeStepOf positions of a step, by its seconds
 */
function clipsOf(files: ClipFiles, timeStepOf: (seconds: number) => number): ClipFamily {
  const { video } = files;
  const processor = createFramePatchProcessor(video);
  const { mergeSize: merge, together } = processor;
  const steps = Math.ceil((firstNumber(video, 'max_frames') ?? MOST) / together);
  const mostPatches = processor.mostPatches * steps;
  const token = clipToken(files, '<|video_pad|>');
  return {
    ...{ ...token, alone: false, mostPatches },
    choose(facts, sampling) {
      const numbers = frameNumbers(facts, sampling, { video, together });
      const [, rows, columns] = processor.gridOf(facts);
      const steps = Math.ceil(numbers.length / together);
      const patches = steps * rows * columns;
      const timeStep = timeStepOf(together / (sampling.fps ?? FPS));
      return {
        numbers,
        layout: {
          ...{ patches, count: patches / merge / merge, timeStep },
          grid: [steps, rows / merge, columns / merge],
        },
      };
    },
    collect() {
      const parts: Float32Array[] = [];
      let waiting: Image[] = [];
      let size: [number, number] = [0, 0];
      const cut = () => {
        const [, rows, columns] = processor.gridOf(waiting[0]!, true);
        size = [rows, columns];
        parts.push(processor.cut(waiting));
        waiting = [];
      };
      return {
        add(frame) {
          waiting.push(processor.resize(frame));
          if (waiting.length === together) cut();
          return [];
        },
        end() {
          // The last frame again, to be as many as belong together.
          while (waiting.length > 0 && waiting.length < together) waiting.push(waiting.at(-1)!);
          if (waiting.length > 0) cut();
          return [() => inputs(parts, [parts.length, ...size])];
        },
      };
    },
    expand: ({ count }) => token.placeholder.repeat(count),
    positions: ropePositions,
  };
}

function inputs(parts: readonly Float32Array[], grid: readonly number[]): ReturnType<EncoderRun> {
  const patches = grid.reduce((product, edge) => product * edge, 1);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const data = new Float32Array(length);
  parts.forEach((part, i) => data.set(part, i * part.length));
  const sizes = { type: 'int64', data: BigInt64Array.from(grid, BigInt), dims: [1, 3] };
  const pixels = { type: 'float32', data, dims: [patches, length / patches] };
  return { pixel_values: pixels, grid_thw: sizes, image_grid_thw: sizes };
}

interface Sampling {
  video: Json;
  together: number;
}

/** Qwen2VLVideoProcessor.sample_frames; all frames where neither the request nor the repository asks for a choice. */
function frameNumbers(facts: VideoFacts, asked: FrameSampling, sampling: Sampling): number[] {
  refuseBoth(asked);
  const count = countOf(facts, asked, sampling);
  const { frames: total } = facts;
  return count === undefined ? allFrames(total) : uniformly(total, countWithin(count, total));
}

function countOf(
  facts: VideoFacts,
  { num_frames, fps }: FrameSampling,
  { video, together }: Sampling,
): number | undefined {
  const asked = num_frames ?? fps;
  if (asked == null && video['do_sample_frames'] !== true) return undefined;
  const usual = (name: string) => (asked == null ? firstNumber(video, name) : undefined);
  const [most, rate] = [num_frames ?? usual('num_frames'), fps ?? usual('fps')];
  if (most !== undefined) return roundHalfEven(most / together) * together;
  if (rate === undefined) return undefined;
  const { frames: total } = facts;
  return countByRate(total, (total / rateOf(facts)) * rate, { video, together });
}

function countByRate(total: number, wanted: number, { video, together }: Sampling): number {
  const down = (count: number) => Math.floor(count / together) * together;
  const least = firstNumber(video, 'min_frames') ?? LEAST;
  const most = down(Math.min(firstNumber(video, 'max_frames') ?? MOST, total));
  return down(Math.min(Math.max(wanted, least), most, total));
}
