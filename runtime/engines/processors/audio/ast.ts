import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';
import type { FeatureExtractor } from './audio-features.js';
import { createKaldiSpectrogram, FRAME, HOP } from './kaldi.js';

/**
 * Kaldi's mel spectrogram, cut or followed by zeros to one length, then normalised (ASTFeatureExtractor).
 * @throws RunError `not_ready` for means of several channels
 */
export function createAstExtractor(config: Json): FeatureExtractor {
  const { sampling_rate = 16_000, num_mel_bins = 128, max_length = 1024 } = config as Record<string, number>;
  const { mean = -4.2677393, std = 4.5689974 } = config as Record<string, number>;
  if (typeof mean !== 'number' || typeof std !== 'number')
    throw new RunError('not_ready', 'preprocessor_config.json: mean and std are no numbers');
  const normalizes = config['do_normalize'] !== false;
  const spectrogram = createKaldiSpectrogram(num_mel_bins, sampling_rate, 'hann');
  const size = max_length * num_mel_bins;
  const most = (max_length - 1) * HOP + FRAME;
  return {
    rate: sampling_rate,
    async extract(samples, signal) {
      if (samples.length < FRAME)
        throw new RunError('unprocessable', `the audio is shorter than one frame (${FRAME} samples)`);
      const { values: found, frames } = await spectrogram(samples.subarray(0, most), signal);
      const values = new Float32Array(size);
      values.set(found.subarray(0, size));
      if (normalizes) for (let i = 0; i < size; i++) values[i] = (values[i]! - mean) / (2 * std);
      const content = Math.min(frames, max_length);
      return {
        ...{ input: 'input_values', values, dims: [1, max_length, num_mel_bins] },
        mask: { length: max_length, content },
      };
    },
  };
}
