import { RunError } from '../../../core/errors.js';
import { finish } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { CLIP, planesOf, readLevels } from './levels.js';
import type { Edges } from './sizes.js';
import { resizedLikeTorch } from './torch-resize.js';

/** A frame as the model takes it: [3, height, width]. */
export interface Frame extends Edges {
  values: Float32Array;
}

const BICUBIC = 3;
const EDGE = 384;

/** LlavaOnevisionVideoProcessor, from video_preprocessor_config.json. @throws RunError not_ready for a size that is not fixed */
export function createTensorFrames(config: Json): { process(frame: Image): Frame } {
  const value = <T>(name: string, otherwise: T): T => (config[name] ?? otherwise) as T;
  const levels = readLevels(config, CLIP);
  const size = value<Json>('size', { height: EDGE, width: EDGE });
  const [height, width] = [firstNumber(size, 'height'), firstNumber(size, 'width')];
  if (
    height === undefined ||
    width === undefined ||
    config['do_resize'] === false ||
    config['do_center_crop']
  )
    throw new RunError(
      'not_ready',
      'video_preprocessor_config.json: frames must be resized to a height and width',
    );
  const resample = value('resample', BICUBIC);
  return {
    process(frame) {
      const resized = finish(resizedLikeTorch(frame, { height, width }, resample));
      return { values: planesOf(resized, levels), height, width };
    },
  };
}
