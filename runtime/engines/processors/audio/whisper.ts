import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';
import type { FeatureExtractor } from './audio-features.js';
import { melFilters } from './mel-filters.js';
import { createSpectrogram } from './spectrogram.js';
import { windowOf } from './window.js';

/** Highest frequency of the filters, whatever the rate. */
const HIGHEST = 8000;
/** Quieter than the loudest by more orders of magnitude than these is cut off. */
const RANGE = 8;

export interface WhisperExtractor extends FeatureExtractor {
  /** Samples of one window. */
  readonly windowSamples: number;
  /** Frames of one window. */
  readonly windowFrames: number;
  readonly hop: number;
  readonly filters: number;
  /**
   * The log-mel spectrogram of all of the audio, followed by silence up to `samples`: [filters, frames], so that loud and
   * quiet parts of a long audio clip keep their proportion.
   */
  whole(audio: Float32Array, samples: number, signal: AbortSignal): Promise<WholeFeatures>;
}

export interface WholeFeatures {
  /** [filters, frames] */
  values: Float32Array;
  frames: number;
}

/**
 * The logarithm of mel filters around each hundredth of a second, of one window (WhisperFeatureExtractor).
 * @throws RunError `not_ready` for a window that ends in something else than silence
 */
export function createWhisperExtractor(config: Json): WhisperExtractor {
  const { sampling_rate = 16_000, feature_size = 80, hop_length = 160 } = config as Record<string, number>;
  const { n_fft = 400, chunk_length = 30 } = config as Record<string, number>;
  if ((config['padding_value'] ?? 0) !== 0)
    throw new RunError('not_ready', 'preprocessor_config.json: padding_value other than 0 is not supported');
  const windowSamples = chunk_length * sampling_rate;
  const windowFrames = Math.floor(windowSamples / hop_length);
  const spectrogram = createSpectrogram({
    ...{ window: windowOf('hann', n_fft, true), hop: hop_length, fftLength: n_fft, floor: 1e-10 },
    ...{ log: 'log10', center: true },
    filters: melFilters({
      ...{ bins: 1 + Math.floor(n_fft / 2), filters: feature_size, from: 0, to: HIGHEST },
      ...{ rate: sampling_rate, scale: 'slaney', slaneyNorm: true },
    }),
  });

  async function whole(audio: Float32Array, length: number, signal: AbortSignal): Promise<WholeFeatures> {
    const padded = new Float32Array(length);
    padded.set(audio.subarray(0, length));
    const found = await spectrogram(padded, signal);
    // Python leaves the last frame out.
    const frames = found.frames - 1;
    return { values: scaled(found.values, frames, feature_size), frames };
  }

  return {
    ...{ rate: sampling_rate, windowSamples, windowFrames, hop: hop_length, filters: feature_size, whole },
    async extract(audio, signal) {
      const { values, frames } = await whole(audio, windowSamples, signal);
      const content = Math.min(frames, Math.ceil(audio.length / hop_length));
      return {
        input: 'input_features',
        values,
        dims: [1, feature_size, frames],
        mask: { length: frames, content },
      };
    },
  };
}

/** [frames, filters] to [filters, frames], cut off far below the loudest, and about 1 at most. */
function scaled(values: Float32Array, frames: number, filters: number): Float32Array {
  let loudest = -Infinity;
  for (let i = 0; i < frames * filters; i++) loudest = Math.max(loudest, values[i]!);
  const least = loudest - RANGE;
  const turned = new Float32Array(frames * filters);
  for (let frame = 0; frame < frames; frame++) {
    for (let i = 0; i < filters; i++)
      turned[i * frames + frame] = (Math.max(least, values[frame * filters + i]!) + 4) / 4;
  }
  return turned;
}
