import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';
import { eachFeature } from './feature-statistics.js';
import type { FeatureExtractor } from './audio-features.js';
import { createKaldiSpectrogram, FRAME } from './kaldi.js';

/** Kaldi takes samples of 16 bits. */
const SIXTEEN_BITS = 2 ** 15;

/**
 * Kaldi's mel spectrogram, each filter with mean 0 and deviation 1 over the audio clip (Speech2TextFeatureExtractor).
 * @throws RunError `not_ready` for noise that is added
 */
export function createSpeech2TextExtractor(config: Json): FeatureExtractor {
  const { sampling_rate: rate = 16_000, num_mel_bins: filters = 80, dither = 0 } = config as Numbers;
  const { do_ceptral_normalize = true, normalize_means = true, normalize_vars = true } = config;
  if (dither !== 0)
    throw new RunError(
      'not_ready',
      'preprocessor_config.json: dither, noise that is drawn, is not supported',
    );
  const [means, deviations] = [normalize_means, normalize_vars].map((one) => one && do_ceptral_normalize);
  const spectrogram = createKaldiSpectrogram(filters, rate, 'povey');
  return {
    rate,
    async extract(samples, signal) {
      if (samples.length < FRAME)
        throw new RunError('unprocessable', 'the audio is shorter than a frame (25 ms)');
      const scaled = samples.map((sample) => sample * SIXTEEN_BITS);
      const { values, frames } = await spectrogram(scaled, signal);
      // The deviation of all frames, where that of a sample is given.
      const share = Math.sqrt(1 - 1 / frames);
      const normed = (value: number, mean: number, deviation: number) =>
        (value - (means ? mean : 0)) / (deviations ? deviation * share : 1);
      eachFeature(values, { frames, features: filters }, normed);
      return {
        ...{ input: 'input_features', values, dims: [1, frames, filters] },
        mask: { length: frames, content: frames },
      };
    },
  };
}

type Numbers = Partial<Record<'sampling_rate' | 'num_mel_bins' | 'dither', number>>;
