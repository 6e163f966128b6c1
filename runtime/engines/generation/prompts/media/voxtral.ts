import { createWhisperExtractor } from '../../../processors/audio/whisper.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { FamilyFiles, AudioFamily } from './family.js';
import { audioToken } from './audio-token.js';

const BEGIN = '[BEGIN_AUDIO]';

/** Voxtral: audio clips are filled up with silence to whole windows of 30 seconds, each with as many tokens. */
export function createVoxtralFamily(files: FamilyFiles): AudioFamily {
  const token = audioToken(files, '[AUDIO]');
  const extractor = createWhisperExtractor(files.processing);
  const { windowSamples, windowFrames, filters } = extractor;
  const { positions, features } = windowOf((files.config['audio_config'] ?? {}) as Json);
  const windowsOf = (samples: number) => Math.max(1, Math.ceil(samples / windowSamples));
  return {
    ...{ ...token, rate: extractor.rate, mostPatches: positions },
    layout: (samples) => ({ patches: positions, count: windowsOf(samples) * features }),
    async prepare(samples, signal) {
      const windows = windowsOf(samples.length);
      const { values, frames } = await extractor.whole(samples, windows * windowSamples, signal);
      return Array.from({ length: windows }, (_, window) => () => {
        const data = new Float32Array(filters * windowFrames);
        for (let filter = 0; filter < filters; filter++) {
          const from = filter * frames + window * windowFrames;
          data.set(values.subarray(from, from + windowFrames), filter * windowFrames);
        }
        const dims = [1, filters, windowFrames];
        // Each of the names that exports have.
        return {
          audio_values: { type: 'float32', data, dims },
          input_features: { type: 'float32', data, dims },
        };
      });
    },
    expand: ({ count }) => BEGIN + token.placeholder.repeat(count),
  };
}

/** Steps of a window, and the features that they are joined to (VoxtralEncoderConfig's sizes where it is silent). */
function windowOf(audio: Json): { positions: number; features: number } {
  const positions = firstNumber(audio, 'max_source_positions') ?? 1500;
  const hidden = firstNumber(audio, 'hidden_size', 'd_model') ?? 1280;
  const joined = firstNumber(audio, 'intermediate_size', 'encoder_ffn_dim') ?? 5120;
  return { positions, features: Math.floor((positions * hidden) / joined) };
}
