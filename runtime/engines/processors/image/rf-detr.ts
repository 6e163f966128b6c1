import { RunError } from '../../../core/errors.js';
import type { Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import type { Json } from '../../repository/model-folder.js';
import { floatsWithoutAntialias } from './depth-pro.js';
import { detrSize } from './detection-resize.js';
import type { Floats, ProcessorSettings } from './processor-settings.js';

/** RF-DETR rescales, then resizes floats without antialias. Images are alone in their run: nothing is padded. */
export function rfDetrFloats(image: Image, settings: ProcessorSettings): Steps<Floats> {
  const { size } = settings;
  const to = detrSize(image, settings) ?? ('height' in size ? size : image);
  if (to.height > 0 && to.width > 0)
    return floatsWithoutAntialias(image, settings.do_resize ? to : image, settings);
  throw new RunError('unprocessable', 'the image is too narrow for this model');
}

/** torchvision's filters of floats: bilinear and bicubic. */
const FILTERS = [2, 3];

/** @throws RunError `not_ready` for what the network or the arithmetic here has no way to follow */
export function rfDetrSettings(config: Json): Json {
  const { resample = 2, do_rescale, do_resize, do_pad, pad_size: pad } = config;
  const problem = !FILTERS.includes(resample as number)
    ? `resample ${JSON.stringify(resample)}`
    : do_rescale === false && do_resize !== false
      ? 'do_rescale false, which rounds what is resized,'
      : pad && do_pad !== false
        ? 'pad_size'
        : undefined;
  if (problem) throw new RunError('not_ready', `preprocessor_config.json: ${problem} is not supported`);
  return config;
}
