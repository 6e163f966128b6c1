import { RunError } from '../../../../core/errors.js';
import { createFunAsrNanoExtractor } from '../../../processors/audio/fun-asr-nano.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { inOneRun, ofOneClip, sameAudioToken } from './audio-token.js';
import type { AudioFamily, FamilyFiles } from './family.js';

/** FunAsrNanoProcessor's default. */
const TOKEN = '<|object_ref_start|>';

/** Fun-ASR-Nano: an audio clip as long as it is, with a token for each step. */
export function createFunAsrNanoFamily(files: FamilyFiles): AudioFamily {
  const { config, processing, processor } = files;
  const written = processor['audio_token'];
  const token = sameAudioToken(files, typeof written === 'string' ? written : TOKEN);
  const extractor = createFunAsrNanoExtractor(processing);
  const audio = (config['audio_config'] ?? {}) as Json;
  const width = (firstNumber(audio, 'num_mel_bins') ?? 80) * (firstNumber(audio, 'num_stacked_frames') ?? 7);
  if (width !== extractor.width)
    throw new RunError(
      'not_ready',
      'processor_config.json: steps are of other numbers than those of config.json',
    );
  // The first position stands before all steps.
  const most = (firstNumber(audio, 'max_position_embeddings') ?? 2049) - 1;
  return {
    ...{ ...token, rate: extractor.rate, mostPatches: most },
    layout(samples) {
      const count = extractor.stepsOf(samples);
      if (count <= most) return { patches: count, count };
      throw new RunError(
        'unprocessable',
        `the audio clip has ${count} steps of 60 ms, and this model has positions for ${most}: send a part of it`,
      );
    },
    prepare: inOneRun(extractor),
    expand: ofOneClip(token, ', as in Python'),
  };
}
