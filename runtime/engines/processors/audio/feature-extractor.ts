import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';
import { createAstExtractor } from './ast.js';
import { createCohereAsrExtractor } from './cohere-asr.js';
import { createGraniteSpeech5Extractor } from './granite-speech5.js';
import { createLasrExtractor } from './lasr.js';
import { createParakeetExtractor } from './parakeet.js';
import { createSeamlessExtractor } from './seamless-m4t.js';
import { createSpeech2TextExtractor } from './speech-to-text.js';
import type { FeatureExtractor } from './audio-features.js';
import { createOmniAsrExtractor, createSpeechT5Extractor, createWav2Vec2Extractor } from './wav2vec2.js';
import { createWhisperExtractor } from './whisper.js';

type CreateExtractor = (config: Json) => FeatureExtractor;

/** Python's class less its ending to its rules. */
const EXTRACTORS: Readonly<Record<string, CreateExtractor>> = {
  Wav2Vec2: createWav2Vec2Extractor,
  AST: createAstExtractor,
  Whisper: createWhisperExtractor,
  SeamlessM4T: createSeamlessExtractor,
  Parakeet: createParakeetExtractor,
  CohereAsr: createCohereAsrExtractor,
  Lasr: createLasrExtractor,
  GraniteSpeech5: createGraniteSpeech5Extractor,
  OmniASR: createOmniAsrExtractor,
  SpeechT5: createSpeechT5Extractor,
  Speech2Text: createSpeech2TextExtractor,
};

/**
 * @param config preprocessor_config.json
 * @param usual what AutoFeatureExtractor takes for the model where its files name none
 * @throws RunError `not_ready` for a class whose rules are not known: guessing would give wrong answers silently
 */
export function createFeatureExtractor(config: Json, usual = 'Wav2Vec2'): FeatureExtractor {
  const given = config['feature_extractor_type'];
  const name = typeof given === 'string' ? given.replace(/FeatureExtractor$/, '') : usual;
  const create = Object.hasOwn(EXTRACTORS, name) ? EXTRACTORS[name] : undefined;
  if (create) return create(config);
  throw new RunError(
    'not_ready',
    `feature extractor ${String(given)} is not supported; supported: ${Object.keys(EXTRACTORS).join(', ')}`,
  );
}
