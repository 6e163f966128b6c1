import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';
import { eachFeature } from './feature-statistics.js';
import { melFilters } from './mel-filters.js';
import type { FeatureExtractor } from './audio-features.js';
import { createSpectrogram } from './spectrogram.js';
import { centredWindow } from './window.js';

/** Added to what filters let through. */
const GUARD = 2 ** -24;
/** Added to deviations. */
const EPSILON = 1e-5;

/** Mel filters of frames around their positions, each filter with mean 0 and variance 1 (ParakeetFeatureExtractor). */
export function createParakeetExtractor(config: Json): FeatureExtractor {
  const { sampling_rate: rate = 16_000, feature_size: filters = 80 } = config as Record<string, number>;
  const { hop_length: hop = 160, n_fft: length = 512, win_length = 400 } = config as Record<string, number>;
  const { preemphasis = 0.97 } = config as { preemphasis?: number | null };
  const margin = Math.floor(length / 2);
  const spectrogram = createSpectrogram({
    ...{
      window: centredWindow('hann', win_length, { length, periodic: false }),
      hop,
      fftLength: length,
      floor: 0,
      added: GUARD,
      log: 'ln',
    },
    filters: melFilters({
      ...{ bins: margin + 1, filters, from: 0, to: rate / 2, rate, scale: 'slaney', slaneyNorm: true },
    }),
  });
  return {
    rate,
    async extract(samples, signal) {
      const content = Math.floor((samples.length + 2 * margin - length) / hop);
      // The variance of one frame is none: Python's numbers are none either.
      if (content < 2) throw new RunError('unprocessable', 'the audio is shorter than two frames');
      const padded = new Float32Array(samples.length + 2 * margin);
      padded.set(emphasized(samples, preemphasis ?? 0), margin);
      const { values, frames } = await spectrogram(padded, signal);
      eachFeature(values, { frames: content, features: filters }, (value, mean, deviation) =>
        Math.fround((value - mean) / (deviation + EPSILON)),
      );
      values.fill(0, content * filters);
      const dims = [1, frames, filters];
      return { input: 'input_features', values, dims, mask: { length: frames, content } };
    },
  };
}

/** Each sample less so much of the one before it. */
const emphasized = (samples: Float32Array, by: number): Float32Array =>
  samples.map((sample, i) => (i === 0 ? sample : sample - by * samples[i - 1]!));
