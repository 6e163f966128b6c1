import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';
import { createAstExtractor } from './ast.js';
import { createParakeetExtractor } from './parakeet.js';
import { createSeamlessExtractor } from './seamless-m4t.js';
import type { FeatureExtractor } from './sound-features.js';
import { createWav2Vec2Extractor } from './wav2vec2.js';
import { createWhisperExtractor } from './whisper.js';

type CreateExtractor = (config: Json) => FeatureExtractor;

/** Python's class less its ending to its rules. */
const EXTRACTORS: Readonly<Record<string, CreateExtractor>> = {
  Wav2Vec2: createWav2Vec2Extractor,
  AST: createAstExtractor,
  Whisper: createWhisperExtractor,
  SeamlessM4T: createSeamlessExtractor,
  Parakeet: createParakeetExtractor,
};

/** What AutoFeatureExtractor takes for models whose files name none. */
const BY_MODEL: Readonly<Record<string, string>> = {
  'audio-spectrogram-transformer': 'AST',
  whisper: 'Whisper',
  'wav2vec2-bert': 'SeamlessM4T',
  parakeet_ctc: 'Parakeet',
  parakeet_tdt: 'Parakeet',
  parakeet_rnnt: 'Parakeet',
};

/**
 * @param config preprocessor_config.json
 * @param modelType of config.json
 * @throws RunError `not_ready` for a class whose rules are not known: guessing would give wrong answers silently
 */
export function createFeatureExtractor(config: Json, modelType: unknown): FeatureExtractor {
  const given = config['feature_extractor_type'];
  const name = typeof given === 'string' ? given.replace(/FeatureExtractor$/, '') : byModel(modelType);
  const create = Object.hasOwn(EXTRACTORS, name) ? EXTRACTORS[name] : undefined;
  if (create) return create(config);
  throw new RunError(
    'not_ready',
    `feature extractor ${String(given)} is not supported; supported: ${Object.keys(EXTRACTORS).join(', ')}`,
  );
}

const byModel = (modelType: unknown): string =>
  typeof modelType === 'string' && Object.hasOwn(BY_MODEL, modelType) ? BY_MODEL[modelType]! : 'Wav2Vec2';
