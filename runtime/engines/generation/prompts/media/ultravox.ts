import { RunError } from '../../../../core/errors.js';
import { createWhisperExtractor } from '../../../processors/audio/whisper.js';
import { firstNumber } from '../../../repository/model-folder.js';
import type { FamilyFiles, AudioFamily } from './family.js';
import { audioToken } from './audio-token.js';

/** Samples of a step of the encoder, and steps that are joined to one feature: UltravoxProcessor's defaults. */
const [SAMPLES, JOINED] = [320, 8];
/** Before Python rounds. */
const NUDGE = 1e-4;

/** Ultravox: audio clips as long as they are, of 30 seconds at most. */
export function createUltravoxFamily(files: FamilyFiles): AudioFamily {
  const { config, processing, processor } = files;
  const written = processor['audio_placeholder'] ?? processing['audio_placeholder'];
  const token = audioToken(files, typeof written === 'string' ? written : '<|audio|>');
  const extractor = createWhisperExtractor(processing);
  const { windowSamples, windowFrames, filters, hop } = extractor;
  const joined = firstNumber(processor, 'stack_factor') ?? firstNumber(config, 'stack_factor') ?? JOINED;
  const step = firstNumber(processor, 'encoder_ds_factor') ?? SAMPLES;
  const stepsOf = (samples: number) => Math.round(samples / step + NUDGE);
  return {
    ...{ ...token, rate: extractor.rate, mostPatches: Math.ceil(windowFrames / 2) },
    layout(samples) {
      if (samples > windowSamples) throw tooLong(windowSamples / extractor.rate);
      if (samples < hop) throw new RunError('unprocessable', 'the audio is too short: it has no whole frame');
      const steps = stepsOf(samples);
      return { patches: steps, count: 1 + Math.ceil(steps / joined) };
    },
    async prepare(samples, signal) {
      const { values, frames } = await extractor.whole(samples, samples.length, signal);
      const tensor = () => ({ type: 'float32', data: values, dims: [1, filters, frames] });
      return [() => ({ audio_values: tensor(), input_features: tensor() })];
    },
    expand: ({ count }) => token.placeholder.repeat(count),
  };
}

function tooLong(seconds: number): RunError {
  return new RunError(
    'unprocessable',
    `the audio is longer than the ${seconds} s that this model reads; send a part of it`,
  );
}
