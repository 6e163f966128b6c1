import { RunError } from '../../../../core/errors.js';
import { createWhisperExtractor } from '../../../processors/audio/whisper.js';
import type { AudioFamily, FamilyFiles } from './family.js';
import { ofOneClip, sameAudioToken } from './audio-token.js';

/** Frames of a feature: a convolution halves them, and four steps are joined. */
const FRAMES = 8;
/** GlmAsrProcessor's defaults; seconds. */
const [TOKEN, LONGEST] = ['<|pad|>', 655];

/** GLM-ASR: windows of 30 seconds, each with its own loudest part, and tokens for what is no silence behind the clip. */
export function createGlmAsrFamily(files: FamilyFiles): AudioFamily {
  const { audio_token = TOKEN, max_audio_len: longest = LONGEST } = files.processor as {
    audio_token?: string;
    max_audio_len?: number;
  };
  const token = sameAudioToken(files, audio_token);
  const { feature_size = 128 } = files.processing as Record<string, number>;
  const extractor = createWhisperExtractor({ ...files.processing, feature_size });
  const { windowSamples, windowFrames, filters, hop, rate } = extractor;
  const most = Math.floor(longest / (windowSamples / rate));
  if (windowFrames % FRAMES !== 0 || most < 1)
    throw new RunError(
      'not_ready',
      'processor_config.json: windows (chunk_length) of no whole number of features, or longer than max_audio_len, are not known',
    );
  const heard = (samples: number) => Math.min(samples, most * windowSamples);
  /** Features of so many samples of a window. */
  const featuresOf = (samples: number) => Math.floor(Math.ceil(Math.ceil(samples / hop) / 2) / 4);
  return {
    ...{ ...token, rate, mostPatches: windowFrames / 2 },
    layout(samples) {
      const count = featuresOf(heard(samples));
      if (count > 0) return { count, patches: windowFrames / 2 };
      throw new RunError('unprocessable', 'the audio clip is too short: it has no whole feature');
    },
    async prepare(samples, signal) {
      const runs = [];
      for (let start = 0; start < heard(samples.length); start += windowSamples) {
        const window = samples.subarray(start, start + windowSamples);
        const count = featuresOf(window.length);
        if (count === 0) break;
        const { values: data, frames } = await extractor.whole(window, windowSamples, signal);
        runs.push(() => ({
          input_features: { type: 'float32' as const, data, dims: [1, filters, frames] },
          feature_count: { type: 'int64' as const, data: BigInt64Array.of(BigInt(count)), dims: [1] },
        }));
      }
      return runs;
    },
    expand: ofOneClip(token, ', as in Python'),
  };
}
