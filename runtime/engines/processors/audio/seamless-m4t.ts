import type { Json } from '../../repository/model-folder.js';
import { RunError } from '../../../core/errors.js';
import { eachFeature } from './feature-statistics.js';
import type { FeatureExtractor } from './audio-features.js';
import { createKaldiSpectrogram, FRAME } from './kaldi.js';

/** Added to variances. */
const LEAST = 1e-7;
const normed = (value: number, mean: number, deviation: number): number => (value - mean) / deviation;

/** Kaldi takes samples of 16 bits. */
const SIXTEEN_BITS = 2 ** 15;

/**
 * Kaldi's mel spectrogram, each filter with mean 0 and variance 1, `stride` frames side by side
 * (SeamlessM4TFeatureExtractor).
 */
export function createSeamlessExtractor(config: Json): FeatureExtractor {
  const {
    sampling_rate = 16_000,
    num_mel_bins = 80,
    stride = 2,
    padding_value = 0,
  } = config as Record<string, number>;
  const spectrogram = createKaldiSpectrogram(num_mel_bins, sampling_rate, 'povey');
  return {
    rate: sampling_rate,
    async extract(samples, signal) {
      if (samples.length < FRAME)
        throw new RunError('unprocessable', 'the audio is shorter than a frame (25 ms)');
      const { values: found, frames } = await spectrogram(
        samples.map((sample) => sample * SIXTEEN_BITS),
        signal,
      );
      // The variance of one frame is none: Python's numbers are none either, and its mask hides them.
      if (frames > 1) eachFeature(found, { frames, features: num_mel_bins }, normed, LEAST);
      else found.fill(padding_value);
      // Python fills up to an even number of frames, and drops what then is no whole stride.
      const length = Math.floor((frames + (frames % 2)) / stride);
      const values = new Float32Array(length * stride * num_mel_bins).fill(padding_value);
      values.set(found.subarray(0, values.length));
      return {
        ...{ input: 'input_features', values, dims: [1, length, stride * num_mel_bins] },
        mask: { length, content: Math.min(length, Math.floor((frames + stride - 2) / stride)) },
      };
    },
  };
}
