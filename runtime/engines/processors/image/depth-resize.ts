import { roundHalfEven } from '../../../core/round-half-even.js';
import type { Steps } from '../../../core/steps.js';
import { RunError } from '../../../core/errors.js';
import type { Picture } from '../../../media/picture.js';
import { plainResize, type ResizeSettings } from './geometry.js';
import { resizeSteps } from './pillow-resize.js';
import { type Edges, multipleBelow } from './sizes.js';

/**
 * DPT and Depth Anything: both edges become multiples; where the aspect ratio is kept, the edge that changes less decides.
 */
export function* dptResize(
  picture: Picture,
  settings: ResizeSettings & { keep_aspect_ratio: boolean; ensure_multiple_of: number },
): Steps<Picture> {
  const { size } = settings;
  if (!('height' in size)) return yield* plainResize(picture, settings);
  return yield* resized(picture, dptSize(picture, { ...settings, size }), settings.resample);
}

interface RatioSettings {
  keep_aspect_ratio: boolean;
  ensure_multiple_of: number;
  size: Edges;
}

export function dptSize(
  picture: Edges,
  { size, keep_aspect_ratio, ensure_multiple_of: multiple }: RatioSettings,
): Edges {
  let [down, across] = [size.height / picture.height, size.width / picture.width];
  if (keep_aspect_ratio) {
    const scale = Math.abs(1 - across) < Math.abs(1 - down) ? across : down;
    [down, across] = [scale, scale];
  }
  const edge = (length: number) => roundHalfEven(length / multiple) * multiple;
  return { height: edge(down * picture.height), width: edge(across * picture.width) };
}

/** GLPN cuts both edges to multiples, and knows no size. */
export function* glpnResize(
  picture: Picture,
  settings: ResizeSettings & { size_divisor: number },
): Steps<Picture> {
  return yield* resized(picture, multipleBelow(picture, settings.size_divisor), settings.resample);
}

function* resized(
  picture: Picture,
  { height, width }: { height: number; width: number },
  resample: number,
): Steps<Picture> {
  checkNotEmpty({ height, width });
  return yield* resizeSteps(picture, width, height, resample);
}

/** @throws RunError 422 for an edge that has become nothing */
export function checkNotEmpty({ height, width }: Edges): void {
  if (height > 0 && width > 0) return;
  throw new RunError('unprocessable', 'the picture is too small or too narrow for this model');
}
