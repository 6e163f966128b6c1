import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';
import type { FeatureExtractor } from './audio-features.js';

/** The samples themselves, with mean 0 and variance 1 where the model wants that (Wav2Vec2FeatureExtractor). */
export const createWav2Vec2Extractor = (config: Json): FeatureExtractor => createExtractor(config, 1e-7);

/** OmniASRFeatureExtractor */
export const createOmniAsrExtractor = (config: Json): FeatureExtractor => createExtractor(config, 1e-5);

/** SpeechT5FeatureExtractor, as far as it reads audio. */
export const createSpeechT5Extractor = (config: Json): FeatureExtractor =>
  createExtractor({ do_normalize: false, ...config }, 1e-7);

/** @param epsilon added to the variance */
function createExtractor(config: Json, epsilon: number): FeatureExtractor {
  const { sampling_rate = 16_000, do_normalize = true, feature_size = 1 } = config;
  if (feature_size !== 1) {
    throw new RunError(
      'not_ready',
      `preprocessor_config.json: feature_size ${String(feature_size)} is not supported`,
    );
  }
  return {
    rate: sampling_rate as number,
    extract(samples, signal) {
      signal.throwIfAborted();
      // A run takes the memory of its inputs, and a piece of an audio clip shares it with the others.
      const values = do_normalize ? normalized(samples, epsilon) : samples.slice();
      const length = values.length;
      return Promise.resolve({
        ...{ input: 'input_values', values, dims: [1, length] },
        mask: { length, content: length },
      });
    },
  };
}

function normalized(samples: Float32Array, epsilon: number): Float32Array {
  const count = samples.length;
  let sum = 0;
  for (let i = 0; i < count; i++) sum += samples[i]!;
  const mean = sum / count;
  let squares = 0;
  for (let i = 0; i < count; i++) squares += (samples[i]! - mean) ** 2;
  const deviation = Math.sqrt(squares / count + epsilon);
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) values[i] = (samples[i]! - mean) / deviation;
  return values;
}
