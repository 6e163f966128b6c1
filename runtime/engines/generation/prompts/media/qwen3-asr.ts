import { RunError } from '../../../../core/errors.js';
import { createWhisperExtractor } from '../../../processors/audio/whisper.js';
import type { FamilyFiles, AudioFamily } from './family.js';
import { audioToken } from './audio-token.js';

/** Frames of a piece, and the features of a whole one. */
const [FRAMES, FEATURES] = [100, 13];
/** Pieces that see each other, where the file does not say. */
const PIECES = 8;

/** Features of so many frames: three convolutions halve what is left over. */
function featuresOf(frames: number): number {
  const rest = [1, 2, 3].reduce((left) => Math.ceil(left / 2), frames % FRAMES);
  return Math.floor(frames / FRAMES) * FEATURES + rest;
}

/** Qwen3-ASR asked as a chat: an audio clip of any length, in whole pieces of a second (Qwen3ASRFeatureExtractor). */
export function createQwen3AsrFamily(files: FamilyFiles): AudioFamily {
  const { processing } = files;
  const token = audioToken(files, '<|audio_pad|>');
  const {
    feature_size = 128,
    n_window = 50,
    dither = 0,
    min_length: least = 8000,
  } = processing as Record<string, number>;
  if (n_window !== FRAMES / 2 || dither !== 0)
    throw new RunError('not_ready', 'processor_config.json: n_window other than 50 and dither are not known');
  const { hop, filters, rate, whole } = createWhisperExtractor({ ...processing, feature_size });
  const framesOf = (samples: number) => Math.floor(Math.max(samples, least) / hop);
  const own = (files.config['audio_config'] as { n_window_infer?: number } | undefined)?.n_window_infer;
  const window = FEATURES * (own === undefined ? PIECES : Math.max(1, Math.floor(own / FRAMES)));
  return {
    ...{ ...token, rate, mostPatches: window },
    layout(samples) {
      const count = featuresOf(framesOf(samples));
      return { count, patches: Math.min(count, window) };
    },
    async prepare(samples, signal) {
      const { values, frames } = await whole(samples, Math.max(samples.length, least), signal);
      const length = Math.ceil(frames / FRAMES) * FRAMES;
      const data = new Float32Array(filters * length);
      for (let i = 0; i < filters; i++) data.set(values.subarray(i * frames, (i + 1) * frames), i * length);
      const steps = BigInt64Array.of(BigInt(featuresOf(frames)));
      return [
        () => ({
          input_features: { type: 'float32', data, dims: [1, filters, length] },
          step_count: { type: 'int64', data: steps, dims: [1] },
        }),
      ];
    },
    expand: ({ count }) => token.placeholder.repeat(count),
  };
}
