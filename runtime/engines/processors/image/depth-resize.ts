import { roundHalfEven } from '../../../core/round-half-even.js';
import type { Steps } from '../../../core/steps.js';
import { RunError } from '../../../core/errors.js';
import type { Image } from '../../../media/decoded-image.js';
import type { Json } from '../../repository/model-folder.js';
import { plainResize, type ResizeSettings } from './geometry.js';
import { resizeSteps } from './pillow-resize.js';
import { type Edges, multipleBelow } from './sizes.js';
import { checkTorchSettings, edgesOf, resizedLikeTorch } from './torch-resize.js';

/**
 * DPT and Depth Anything: both edges become multiples; where the aspect ratio is kept, the edge that changes less decides.
 */
export function* dptResize(
  image: Image,
  settings: ResizeSettings & { keep_aspect_ratio: boolean; ensure_multiple_of: number },
): Steps<Image> {
  const { size } = settings;
  if (!('height' in size)) return yield* plainResize(image, settings);
  return yield* resized(image, dptSize(image, { ...settings, size }), settings.resample);
}

/** @throws RunError `not_ready` for multiples of nothing, and as `checkTorchSettings` */
export function chmv2Settings(config: Json): Json {
  if (config['size_divisor'] === 0)
    throw new RunError('not_ready', 'preprocessor_config.json: size_divisor 0 is not supported');
  return checkTorchSettings(config);
}

/** CHMv2: the same sizes, by PyTorch's arithmetic. */
export function* chmv2Resize(
  image: Image,
  settings: ResizeSettings & { keep_aspect_ratio: boolean; ensure_multiple_of: number },
): Steps<Image> {
  const to = dptSize(image, { ...settings, size: edgesOf(settings.size) });
  checkNotEmpty(to);
  return yield* resizedLikeTorch(image, to, settings.resample);
}

interface RatioSettings {
  keep_aspect_ratio: boolean;
  ensure_multiple_of: number;
  size: Edges;
}

export function dptSize(
  image: Edges,
  { size, keep_aspect_ratio, ensure_multiple_of: multiple }: RatioSettings,
): Edges {
  let [down, across] = [size.height / image.height, size.width / image.width];
  if (keep_aspect_ratio) {
    const scale = Math.abs(1 - across) < Math.abs(1 - down) ? across : down;
    [down, across] = [scale, scale];
  }
  // Classes of version 5 write multiples of 1/32.
  const edge = (length: number) => Math.trunc(roundHalfEven(length / multiple) * multiple);
  return { height: edge(down * image.height), width: edge(across * image.width) };
}

/** GLPN cuts both edges to multiples, and knows no size. */
export function* glpnResize(image: Image, settings: ResizeSettings & { size_divisor: number }): Steps<Image> {
  return yield* resized(image, multipleBelow(image, settings.size_divisor), settings.resample);
}

function* resized(
  image: Image,
  { height, width }: { height: number; width: number },
  resample: number,
): Steps<Image> {
  checkNotEmpty({ height, width });
  return yield* resizeSteps(image, width, height, resample);
}

/** @throws RunError 422 for an edge that has become nothing */
export function checkNotEmpty({ height, width }: Edges): void {
  if (height > 0 && width > 0) return;
  throw new RunError('unprocessable', 'the image is too small or too narrow for this model');
}
