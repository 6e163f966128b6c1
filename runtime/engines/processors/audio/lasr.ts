import type { Json } from '../../repository/model-folder.js';
import { melFilters } from './mel-filters.js';
import type { FeatureExtractor } from './audio-features.js';
import { createSpectrogram } from './spectrogram.js';
import { requireWindowWithin, windowOf } from './window.js';

/** Hertz, whatever the rate. */
const [LOWEST, HIGHEST] = [125, 7500];
const FLOOR = 1e-5;

/** Mel filters of whole frames; samples behind the last one are not heard (LasrFeatureExtractor). */
export function createLasrExtractor(config: Json): FeatureExtractor {
  const { sampling_rate: rate = 16_000, feature_size: filters = 128 } = config as Record<string, number>;
  const {
    hop_length: hop = 160,
    n_fft: length = 512,
    win_length: width = 400,
  } = config as Record<string, number>;
  requireWindowWithin(width, length);
  const spectrogram = createSpectrogram({
    ...{ window: windowOf('hann', width, false), hop, fftLength: length, floor: FLOOR, log: 'ln' },
    filters: melFilters({
      ...{ bins: Math.floor(length / 2) + 1, filters, from: LOWEST, to: HIGHEST, rate },
      ...{ scale: 'kaldi', triangularInMels: true },
    }),
  });
  return {
    ...{ rate, hop },
    async extract(samples, signal) {
      const { values, frames } = await spectrogram(samples, signal);
      const mask = { length: frames, content: frames };
      return { input: 'input_features', values, dims: [1, frames, filters], mask };
    },
  };
}
