import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';
import type { FeatureExtractor } from './audio-features.js';
import { torchSpectrogram } from './granite-speech.js';

/** Frames of a step. */
const STACKED = 2;

/**
 * Filters around each hundredth of a second and their changes, two frames to a step (GraniteSpeech5FeatureExtractor).
 * @throws RunError `not_ready` for settings that are not known
 */
export function createGraniteSpeech5Extractor(config: Json): FeatureExtractor {
  const { num_mel_bins: filters = 80, delta_win_length: span = 3 } = config as Record<string, number>;
  const { logmel_floor_db: range = 8 } = config as Record<string, number>;
  if (!(span >= 3))
    throw new RunError('not_ready', 'preprocessor_config.json: delta_win_length of less than 3 is not known');
  const { rate, hop, margin, spectrogram } = torchSpectrogram(config, filters);
  return {
    ...{ rate, hop },
    async extract(samples, signal) {
      const frames = STACKED * Math.ceil(Math.floor(samples.length / hop) / STACKED);
      const padded = new Float32Array(Math.max(samples.length, (frames - 1) * hop + 1));
      if (frames === 0 || padded.length <= margin)
        throw new RunError('unprocessable', 'the audio clip is too short: it has no whole step');
      padded.set(samples);
      const whole = (await spectrogram(padded, signal)).values.subarray(0, frames * filters);
      const loudest = whole.reduce((most, value) => Math.max(most, value), -Infinity);
      const least = Math.fround(loudest - range);
      const levels = whole.map((value) => Math.max(value, least) / 4 + 1);
      const steps = frames / STACKED;
      const values = withChanges(levels, { frames, filters, reach: Math.trunc((span - 1) / 2) });
      const dims = [1, steps, STACKED * 2 * filters];
      return { input: 'input_features', values, dims, mask: { length: steps, content: steps } };
    },
  };
}

interface Sizes {
  frames: number;
  filters: number;
  /** Frames on either side that a change is taken from; those beyond the ends are like the outermost ones. */
  reach: number;
}

/** [frames, filters] -> [frames, 2 * filters]: each frame and its changes (torchaudio.functional.compute_deltas). */
function withChanges(levels: Float32Array, { frames, filters, reach }: Sizes): Float32Array {
  const values = new Float32Array(2 * levels.length);
  const divisor = (reach * (reach + 1) * (2 * reach + 1)) / 3;
  const at = (frame: number, filter: number) =>
    levels[Math.min(Math.max(frame, 0), frames - 1) * filters + filter]!;
  for (let frame = 0; frame < frames; frame++) {
    const own = 2 * frame * filters;
    values.set(levels.subarray(frame * filters, (frame + 1) * filters), own);
    for (let filter = 0; filter < filters; filter++) {
      let change = 0;
      for (let k = 1; k <= reach; k++) change += k * (at(frame + k, filter) - at(frame - k, filter));
      values[own + filters + filter] = change / divisor;
    }
  }
  return values;
}
