import { RunError } from '../../../../core/errors.js';
import type { FrameSampling } from '../../../../core/handles/index.js';
import type { VideoFacts } from '../../../../media/video.js';
import { createTensorFrames } from '../../../processors/image/tensor-frames.js';
import { uniformly } from '../../../processors/video/uniform.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { ONEVISION_VISION, sideOf } from './anyres.js';
import type { ClipFamily, ClipFiles } from './family.js';
import { mapOf, resizedMap, together } from './feature-map.js';
import { clipToken } from './picture-token.js';

/** LLaVA-OneVision: frames have a quarter of a picture's features, and a clip ends with the end of a line. */
export function createLlavaOnevisionClips(files: ClipFiles): ClipFamily {
  const { config, video } = files;
  const token = clipToken(files, '<video>');
  const frames = createTensorFrames(video);
  const side = sideOf(config, ONEVISION_VISION);
  const each = side * side;
  const pooled = Math.ceil(side / 2);
  return {
    ...{ ...token, alone: false, mostPatches: each + 1 },
    choose(facts, sampling) {
      const numbers = frameNumbers(facts, sampling, video);
      return { numbers, layout: { count: numbers.length * pooled * pooled + 1, patches: each + 1 } };
    },
    collect: () => ({
      add(frame) {
        const { values, height, width } = frames.process(frame);
        return [() => ({ pixel_values: { type: 'float32', data: values, dims: [1, 3, height, width] } })];
      },
      end: () => [],
    }),
    arrange(features) {
      const [count, width] = features.dims as [number, number];
      const found = Array.from({ length: count / (each + 1) }, (_, frame) => {
        const whole = { lines: side, columns: side };
        const map = mapOf(features, whole, (line, column) => frame * (each + 1) + line * side + column);
        return resizedMap(map, pooled, pooled).data;
      });
      const end = (features.data as Float32Array).subarray(each * width, (each + 1) * width);
      return together([...found, end], width);
    },
    expand: ({ count }) => token.placeholder.repeat(count),
  };
}

/** BaseVideoProcessor.sample_frames; all frames where nothing is asked. */
function frameNumbers(
  { frames: total, fps: own }: VideoFacts,
  { num_frames, fps }: FrameSampling,
  video: Json,
): number[] {
  if (num_frames != null && fps != null)
    throw new RunError(
      'unprocessable',
      'params.fps: this model takes params.num_frames or params.fps, not both',
    );
  const asked = num_frames ?? fps;
  const usual = (name: string) =>
    asked == null && video['do_sample_frames'] === true ? firstNumber(video, name) : undefined;
  const [most, rate] = [num_frames ?? usual('num_frames'), fps ?? usual('fps')];
  if (most === undefined && rate === undefined) return Array.from({ length: total }, (_, i) => i);
  if (most === undefined && own <= 0)
    throw new RunError('unprocessable', 'the video does not say how many frames a second has');
  const count = most ?? Math.trunc((total / own) * rate!);
  if (count > 0 && count <= total) return uniformly(total, count);
  throw new RunError('unprocessable', `${count} frames can't be chosen of the video's ${total}`);
}
