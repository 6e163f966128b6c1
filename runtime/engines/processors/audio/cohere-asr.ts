import { torchNormal } from '../../../core/torch-generator.js';
import type { Json } from '../../repository/model-folder.js';
import type { FeatureExtractor } from './audio-features.js';
import { createParakeetExtractor } from './parakeet.js';

/** Parakeet's features of audio with a little noise, whose seed is the number of samples (CohereAsrFeatureExtractor). */
export function createCohereAsrExtractor(config: Json): FeatureExtractor {
  const { dither = 1e-5 } = config as { dither?: number | null };
  const inner = createParakeetExtractor({ feature_size: 128, ...config });
  const noisy = (samples: Float32Array) => {
    const noise = torchNormal(samples.length)(samples.length);
    return samples.map((sample, i) => sample + Math.fround(dither! * noise[i]!));
  };
  return {
    ...inner,
    extract: (samples, signal) => inner.extract((dither ?? 0) > 0 ? noisy(samples) : samples, signal),
  };
}
