import { RunError } from '../../../core/errors.js';
import type { Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import { floatsWithoutAntialias } from './depth-pro.js';
import type { Json } from '../../repository/model-folder.js';
import type { Resize } from './geometry.js';
import { cubicWeights } from './interpolate.js';
import { planesOf } from './levels.js';
import { resizeByTaps } from './pillow-resize.js';
import type { Floats, ProcessorFamily, ProcessorSettings } from './processor-settings.js';
import { emptyReach, fixedTaps, type Reach, TORCH } from './resample-taps.js';
import type { Edges } from './sizes.js';
import { checkTorchSettings, edgesOf } from './torch-resize.js';

const BICUBIC = 3;

/** Weights of the samples around a place that lies `t` behind one of them, and how many of those stand before it. */
function weightsAt(t: number, isCubic: boolean): { before: number; weights: number[] } {
  if (!isCubic) return { before: 0, weights: [1 - t, t] };
  return { before: 1, weights: cubicWeights(t) };
}

/** Without antialias: two samples or four, whatever the scale; those beyond the edge are that of the edge. */
function plainReach(source: number, target: number, isCubic: boolean): Reach {
  const size = isCubic ? 4 : 2;
  const reach = emptyReach(target, size);
  for (let at = 0; at < target; at++) {
    const place = ((at + 0.5) * source) / target - 0.5;
    const low = Math.floor(place);
    const { before, weights } = weightsAt(place - low, isCubic);
    const clamped = weights.map((_, tap) => Math.min(source - 1, Math.max(0, low - before + tap)));
    const first = clamped[0]!;
    clamped.forEach((index, tap) => (reach.shares[at * size + index - first]! += weights[tap]!));
    reach.first[at] = first;
    reach.count[at] = clamped.at(-1)! - first + 1;
  }
  return reach;
}

/** As torchvision resizes bytes without antialias, on processors with AVX2. */
function* resizedWithoutAntialias(image: Image, to: Edges, resample: number): Steps<Image> {
  return yield* resizeByTaps(image, to, (source, target) =>
    fixedTaps(plainReach(source, target, resample === BICUBIC), TORCH),
  );
}

/** @throws RunError `not_ready` for padding, and as `checkTorchSettings` */
function checkDocLayout(config: Json): Json {
  if (config['do_pad']) throw new RunError('not_ready', 'preprocessor_config.json: do_pad is not supported');
  return checkTorchSettings(config);
}

/** PP-DocLayoutV2 and V3. */
const docLayoutResize: Resize = (image, { size, resample }) =>
  resizedWithoutAntialias(image, edgesOf(size), resample);

/** PP-DocLayoutV4: bytes are rescaled first, where that is done, and what overshoots is cut. */
function* docLayout4Floats(image: Image, settings: ProcessorSettings): Steps<Floats> {
  const { do_resize, do_rescale, resample } = settings;
  const to = do_resize ? edgesOf(settings.size) : image;
  if (!do_resize || !do_rescale) {
    const resized = do_resize ? yield* resizedWithoutAntialias(image, to, resample) : image;
    return { values: planesOf(resized, settings), height: to.height, width: to.width };
  }
  return yield* floatsWithoutAntialias(image, to, settings, { cuts: true });
}

/** PP-DocLayout's, which resize without antialias. */
export const docLayout: ProcessorFamily = {
  ...{ number: 'square', resize: docLayoutResize, tensors: true, translate: checkDocLayout },
  defaults: { size: 800, resample: BICUBIC, image_mean: [0, 0, 0], image_std: [1, 1, 1] },
};
export const docLayout4: ProcessorFamily = { ...docLayout, floats: docLayout4Floats };
