import { RunError } from '../../../../core/errors.js';
import { createGraniteSpeechExtractor } from '../../../processors/audio/granite-speech.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { AudioFamily, FamilyFiles } from './family.js';
import { audioToken, inOneRun, ofOneClip } from './audio-token.js';

/** Steps of a window, how many of them become one feature, and the width of a step: defaults of Python's classes. */
const [WINDOW, JOINED, WIDTH] = [15, 5, 160];

/** Granite Speech: an audio clip as long as it is, with features for whole windows of steps. */
export function createGraniteSpeechFamily(files: FamilyFiles): AudioFamily {
  const { processing, processor } = files;
  const written = processor['audio_token'];
  const token = audioToken(files, typeof written === 'string' ? written : '<|audio|>');
  const extractor = createGraniteSpeechExtractor(processing);
  const { window, features, block } = sizesOf(files, extractor.width);
  return {
    ...{ ...token, rate: extractor.rate, mostPatches: block },
    layout(samples) {
      const steps = extractor.stepsOf(samples);
      return { patches: Math.min(steps, block), count: Math.ceil(steps / window) * features };
    },
    prepare: inOneRun(extractor),
    // Of several clips Python fills up all but the longest with silence, which the network reads as audio.
    expand: ofOneClip(token),
  };
}

/** @throws RunError not_ready where the network reads other steps than the processor makes, with which Python fails */
function sizesOf({ config, processing }: FamilyFiles, width: number) {
  const network = {
    window: firstNumber(config, 'window_size') ?? WINDOW,
    joined: firstNumber(config, 'downsample_rate') ?? JOINED,
  };
  const window = firstNumber(processing, 'projector_window_size') ?? WINDOW;
  const joined = firstNumber(processing, 'projector_downsample_rate') ?? JOINED;
  const encoder = (config['encoder_config'] ?? {}) as Json;
  const read = firstNumber(encoder, 'input_dim', 'num_mel_bins') ?? WIDTH;
  if (window === network.window && joined === network.joined && read === width)
    return {
      ...{ window, features: Math.floor(window / joined) },
      block: firstNumber(encoder, 'context_size') ?? 200,
    };
  throw new RunError(
    'not_ready',
    'processor_config.json: projector_window_size, projector_downsample_rate and n_mels are not those of config.json',
  );
}
