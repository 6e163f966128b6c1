import { RunError } from '../../../core/errors.js';

export type WindowName = 'hann' | 'hamming' | 'povey' | 'boxcar';

/**
 * Weights of a frame's samples (transformers.audio_utils.window_function).
 * @param periodic one period of the wave, not from zero to zero
 */
export function windowOf(name: WindowName, length: number, periodic: boolean): Float64Array {
  const span = periodic ? length : length - 1;
  const cosine = (i: number, floor: number) => floor - (1 - floor) * Math.cos((2 * Math.PI * i) / span);
  return Float64Array.from({ length }, (_, i) => {
    if (name === 'boxcar' || span === 0) return 1;
    const weight = cosine(i, name === 'hamming' ? 0.54 : 0.5);
    return name === 'povey' ? weight ** 0.85 : weight;
  });
}

/** @throws RunError `not_ready` for a window longer than the transform, with which Python fails */
export function requireWindowWithin(width: number, length: number): void {
  if (width > length)
    throw new RunError('not_ready', 'preprocessor_config.json: win_length of more than n_fft is not known');
}

/**
 * In the middle of what is transformed, as torch.stft puts it.
 * @throws RunError as `requireWindowWithin`
 */
export function centredWindow(
  name: WindowName,
  width: number,
  { length, periodic }: { length: number; periodic: boolean },
): Float64Array {
  requireWindowWithin(width, length);
  const window = new Float64Array(length);
  window.set(windowOf(name, width, periodic), Math.floor((length - width) / 2));
  return window;
}
