import type { FrameSampling } from '../../../../core/handles/index.js';
import type { VideoFacts } from '../../../../media/video.js';
import { createTensorFrames } from '../../../processors/image/tensor-frames.js';
import { uniformly } from '../../../processors/video/uniform.js';
import type { Json } from '../../../repository/model-folder.js';
import { ONEVISION_VISION, sideOf } from './anyres.js';
import type { ClipFamily, ClipFiles } from './family.js';
import { allFrames, chosenCount } from './frame-sampling.js';
import { mapOf, resizedMap, together } from './feature-map.js';
import { clipToken } from './image-token.js';

/** LLaVA-OneVision: frames have a quarter of an image's features, and a clip ends with the end of a line. */
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
function frameNumbers(facts: VideoFacts, asked: FrameSampling, video: Json): number[] {
  const count = chosenCount(facts, asked, video);
  return count === undefined ? allFrames(facts.frames) : uniformly(facts.frames, count);
}
