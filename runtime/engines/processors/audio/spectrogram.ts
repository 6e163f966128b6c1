import { eachRow } from '../../../core/each-row.js';
import { createFft, powersOfPair } from './fft.js';
import type { MelFilter } from './mel-filters.js';

export interface SpectrogramOptions {
  /** Weights of a frame's samples, as many as a frame has. */
  window: Float64Array;
  /** Samples from one frame to the next. */
  hop: number;
  /** Length of the transform; a shorter frame is followed by zeros. */
  fftLength: number;
  filters: readonly MelFilter[];
  /** Least value of a filter's sum. */
  floor: number;
  /** Added to it; nothing if absent. */
  added?: number;
  log: 'ln' | 'log10';
  /** Frames stand around their positions: the audio is mirrored at both ends. */
  center?: boolean;
  /** Each sample less so much of the one before it. */
  preemphasis?: number;
  /** The frame's mean is taken from it. */
  removeMean?: boolean;
}

export interface Spectrogram {
  /** [frames, filters] */
  values: Float32Array;
  frames: number;
}

/**
 * The logarithm of what mel filters let through, frame by frame (transformers.audio_utils.spectrogram with power 2), in
 * double precision and in short slices of the event loop.
 * @throws the signal's reason
 */
export type MakeSpectrogram = (samples: Float32Array, signal: AbortSignal) => Promise<Spectrogram>;

export function createSpectrogram(options: SpectrogramOptions): MakeSpectrogram {
  const { window, hop, fftLength, filters, center = false } = options;
  const fft = createFft(fftLength);
  const bins = Math.floor(fftLength / 2) + 1;
  return async (samples, signal) => {
    const margin = center ? Math.floor(window.length / 2) : 0;
    const frames = Math.max(0, 1 + Math.floor((samples.length + 2 * margin - window.length) / hop));
    const values = new Float32Array(frames * filters.length);
    const pair = { re: new Float64Array(fftLength), im: new Float64Array(fftLength) };
    const powers = [new Float64Array(bins), new Float64Array(bins)] as const;
    await eachRow(Math.ceil(frames / 2), signal, (half) => {
      const first = 2 * half;
      readFrame(samples, first * hop - margin, options, pair.re);
      if (first + 1 < frames) readFrame(samples, (first + 1) * hop - margin, options, pair.im);
      else pair.im.fill(0);
      powersOfPair(fft(pair), powers);
      for (let i = 0; i < 2 && first + i < frames; i++) {
        filter(powers[i]!, options, values.subarray((first + i) * filters.length));
      }
    });
    return { values, frames };
  };
}

/** Samples from `start` on, weighted; beyond the ends the audio is mirrored about its last samples. */
function readFrame(
  samples: Float32Array,
  start: number,
  { window, preemphasis = 0, removeMean = false }: SpectrogramOptions,
  frame: Float64Array,
): void {
  const length = window.length;
  const last = samples.length - 1;
  for (let i = 0; i < length; i++) {
    let at = start + i;
    // Audio clips may be shorter than the margin: mirrored again and again.
    while (at < 0 || at > last) at = last === 0 ? 0 : at < 0 ? -at : 2 * last - at;
    frame[i] = samples[at]!;
  }
  if (removeMean) {
    let sum = 0;
    for (let i = 0; i < length; i++) sum += frame[i]!;
    for (let i = 0; i < length; i++) frame[i]! -= sum / length;
  }
  if (preemphasis !== 0) {
    for (let i = length - 1; i > 0; i--) frame[i]! -= preemphasis * frame[i - 1]!;
    frame[0]! *= 1 - preemphasis;
  }
  for (let i = 0; i < length; i++) frame[i]! *= window[i]!;
}

function filter(
  power: Float64Array,
  { filters, floor, added = 0, log }: SpectrogramOptions,
  values: Float32Array,
): void {
  const take = log === 'ln' ? Math.log : Math.log10;
  for (const [i, { start, weights }] of filters.entries()) {
    let sum = 0;
    for (let k = 0; k < weights.length; k++) sum += weights[k]! * power[start + k]!;
    values[i] = take(Math.max(floor, sum) + added);
  }
}
