import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';
import { melFilters } from './mel-filters.js';
import { createSpectrogram, type MakeSpectrogram } from './spectrogram.js';
import { centredWindow } from './window.js';

/** Frames of a step. */
const STACKED = 2;
/** Quieter than the loudest by more orders of magnitude than these is cut off. */
const RANGE = 8;

export interface GraniteSpeechExtractor {
  /** Samples per second. */
  readonly rate: number;
  /** Numbers of a step. */
  readonly width: number;
  /** @throws RunError 422 an audio clip that Python's extractor fails on */
  stepsOf(samples: number): number;
  /** [steps, width] */
  extract(samples: Float32Array, signal: AbortSignal): Promise<Float32Array>;
}

export interface TorchSpectrogram {
  /** Samples per second. */
  rate: number;
  /** Samples from one frame to the next. */
  hop: number;
  /** Samples that are mirrored at either end; torch mirrors no more than there are. */
  margin: number;
  spectrogram: MakeSpectrogram;
}

/**
 * The decimal logarithm of torchaudio's MelSpectrogram.
 * @throws RunError `not_ready` for settings that are not known
 */
export function torchSpectrogram(config: Json, filters: number): TorchSpectrogram {
  const { sampling_rate: rate = 16_000, n_fft: length = 512 } = config as Record<string, number>;
  const { win_length = 400, hop_length: hop = 160 } = config as Record<string, number>;
  if (length % 2 !== 0) throw new RunError('not_ready', 'processor_config.json: an odd n_fft is not known');
  const margin = length / 2;
  const spectrogram = createSpectrogram({
    ...{ window: centredWindow('hann', win_length, { length, periodic: true }), hop, fftLength: length },
    ...{ floor: 1e-10, log: 'log10', center: true },
    filters: melFilters({ bins: margin + 1, filters, from: 0, to: Math.floor(rate / 2), rate, scale: 'htk' }),
  });
  return { rate, hop, margin, spectrogram };
}

/**
 * Mel filters of torchaudio around each hundredth of a second, two frames to a step (GraniteSpeechFeatureExtractor).
 * `melspec_kwargs` of the file are written by Python and not read.
 * @throws RunError `not_ready` for settings that are not known
 */
export function createGraniteSpeechExtractor(config: Json): GraniteSpeechExtractor {
  const { n_mels: filters = 80 } = config as Record<string, number>;
  const { rate, hop, margin, spectrogram } = torchSpectrogram(config, filters);
  return {
    ...{ rate, width: STACKED * filters },
    stepsOf(samples) {
      const steps = Math.floor((Math.floor(samples / hop) + 1) / STACKED);
      // torch mirrors no more samples than there are.
      if (samples > margin && steps > 0) return steps;
      throw new RunError('unprocessable', 'the audio clip is too short: it has no whole step');
    },
    async extract(samples, signal) {
      const { values, frames } = await spectrogram(samples, signal);
      const loudest = values.reduce((most, value) => Math.max(most, value), -Infinity);
      const whole = values.subarray(0, (frames - (frames % STACKED)) * filters);
      return whole.map((value) => Math.max(value, loudest - RANGE) / 4 + 1);
    },
  };
}
