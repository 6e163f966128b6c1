import { RunError } from '../../core/errors.js';
import type { ImageOptions } from '../../core/handles/index.js';
import type { Json } from '../repository/model-folder.js';

export interface Size {
  height: number;
  width: number;
}

/** Height and width of a network's samples (`sample_size`, one number or two). */
export function sampleSize(config: Json): Size | undefined {
  const given = config['sample_size'];
  const [height, width] = Array.isArray(given) ? (given as unknown[]) : [given, given];
  if (!isSize(height) || !isSize(width)) return undefined;
  return { height, width };
}

const isSize = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0;

/** Sizes are multiples of this, whatever the decoder's factor. */
const STEP = 8;

/** Both sides are multiples of `step`, or of what the decoder's `factor` asks for in most pipelines. */
export type SizeLimits = { maxPixels: number; onlyBoth?: boolean } & ({ factor: number } | { step: number });

/**
 * The size that is asked for, or the usual one.
 * @param limits.onlyBoth one of height and width alone counts for nothing
 * @throws RunError 422 for one that the pipeline can't make, 413 for more than `maxPixels`
 */
export function askedSize(
  options: ImageOptions,
  usual: Size,
  { maxPixels, onlyBoth = false, ...limits }: SizeLimits,
): Size {
  const isHalf = options.height == null || options.width == null;
  const asked = onlyBoth && isHalf ? {} : options;
  const size = { height: asked.height ?? usual.height, width: asked.width ?? usual.width };
  const step = 'step' in limits ? limits.step : Math.max(STEP, limits.factor);
  for (const name of ['height', 'width'] as const) {
    if (size[name] % step !== 0 || size[name] === 0)
      throw new RunError('unprocessable', `params.${name}: must be a multiple of ${step}`);
  }
  if (size.height * size.width > maxPixels) {
    throw new RunError(
      'payload_too_large',
      `params.height, params.width: ${size.width} x ${size.height} pixels are more than the limit of ${maxPixels} (MAX_PIXELS)`,
    );
  }
  return size;
}
