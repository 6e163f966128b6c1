import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';
import { createKaldiSpectrogram, FRAME, HOP } from './kaldi.js';

export interface FunAsrNanoExtractor {
  /** Samples per second. */
  readonly rate: number;
  /** Numbers of a step. */
  readonly width: number;
  /** @throws RunError 422 an audio clip without a whole frame */
  stepsOf(samples: number): number;
  /** [steps, width] */
  extract(samples: Float32Array, signal: AbortSignal): Promise<Float32Array>;
}

/** The settings that the class has, and no others are known. */
const KNOWN = { sampling_rate: 16_000, frame_length: 25, frame_shift: 10, window: 'hamming' } as const;

/**
 * Kaldi's mel spectrogram, a step for every few frames, made of those around it; the first and the last frame stand for those beyond
 * the ends (FunAsrNanoFeatureExtractor).
 * @throws RunError `not_ready` for settings that are not known
 */
export function createFunAsrNanoExtractor(config: Json): FunAsrNanoExtractor {
  const {
    feature_size: filters = 80,
    num_frames_lfr: stacked = 7,
    stride_lfr: stride = 6,
  } = config as Numbers;
  const other = Object.entries(KNOWN).find(([name, value]) => (config[name] ?? value) !== value);
  if (other)
    throw new RunError('not_ready', `processor_config.json: ${other[0]} other than ${other[1]} is not known`);
  const { sampling_rate: rate } = KNOWN;
  const spectrogram = createKaldiSpectrogram(filters, rate, 'hamming');
  const before = Math.floor((stacked - 1) / 2);
  return {
    ...{ rate, width: filters * stacked },
    stepsOf(samples) {
      if (samples < FRAME)
        throw new RunError('unprocessable', 'the audio clip is shorter than a frame (25 ms)');
      return Math.ceil((Math.floor((samples - FRAME) / HOP) + 1) / stride);
    },
    async extract(samples, signal) {
      const { values, frames } = await spectrogram(samples, signal);
      const steps = Math.ceil(frames / stride);
      const found = new Float32Array(steps * stacked * filters);
      for (let i = 0; i < steps * stacked; i++) {
        const wanted = Math.floor(i / stacked) * stride + (i % stacked) - before;
        const frame = Math.min(Math.max(wanted, 0), frames - 1);
        found.set(values.subarray(frame * filters, (frame + 1) * filters), i * filters);
      }
      return found;
    },
  };
}

type Numbers = Partial<Record<'feature_size' | 'num_frames_lfr' | 'stride_lfr', number>>;
