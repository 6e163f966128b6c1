import type { z } from 'zod';
import type { Decoder } from '../bases/decoder/decoder.js';
import { LLAMA_LIKE } from '../text/decoders.js';
import { innerConfig } from './inner-config.js';

type Absent = Readonly<Record<string, unknown>>;

/**
 * The configuration of a language model inside of another model's, with what Python's class of its type takes for what is
 * left out. The other model has a head of its own: no factors and bounds of scores.
 */
export const languageModel = (usual: string, absent: Absent = {}) =>
  innerConfig((type) => decoderSchema(type)?.transform(withPlainScores), { usual, absent });

/** The same of one that keeps its own head. */
export const wholeLanguageModel = (usual: string, absent: Absent = {}) =>
  innerConfig(decoderSchema, { usual, absent });

const withPlainScores = (decoder: Decoder): Decoder => ({
  ...decoder,
  scores: decoder.plainScores ?? decoder.scores,
});

function decoderSchema(type: string): z.ZodType<Decoder> | undefined {
  const family = LLAMA_LIKE.find(({ modelTypes }) => modelTypes.includes(type));
  return family?.config.transform((config) => family.decoder!(config));
}

/** In version 5 the outer field says whether the table is shared. @param usual where there is none */
export function withTie(given: object, usual = true): object {
  const { text_config: text, tie_word_embeddings: tie = usual } = given as Readonly<Record<string, unknown>>;
  return text ? { ...given, text_config: { ...text, tie_word_embeddings: tie } } : given;
}

const part = (name: string) => ({ [name]: [`model.${name}`, name] });

/**
 * Names of the parts of LLaVA and its relatives, as checkpoints are saved since transformers 4.52 and as before: all of a model under
 * `model.` but what scores, or its parts side by side; base models are saved without any of these beginnings.
 */
export const PARTS = {
  'model.': ['model.language_model.', 'language_model.model.', 'language_model.'],
  'lm_head.': ['lm_head.', 'language_model.lm_head.'],
  'vision_model.': [
    ...['model.vision_tower.vision_model.', 'vision_tower.vision_model.'],
    // Towers that transformers 5 made from a configuration are saved without their own prefix.
    ...['model.vision_tower.', 'vision_tower.'],
  ],
  ...part('vision_tower.'),
  ...part('multi_modal_projector.'),
  ...part('image_newline'),
};

/** Of models that read audio clips through an encoder of their own. */
export const TOWER_PARTS = { ...PARTS, ...part('audio_tower.') };

/** Of models that read audio clips through Whisper's encoder. */
export const AUDIO_PARTS = {
  'model.encoder.': ['audio_tower.', 'model.audio_tower.'],
  'model.': ['language_model.model.', 'model.language_model.', 'language_model.'],
  'lm_head.': ['language_model.lm_head.', 'lm_head.'],
  ...part('multi_modal_projector.'),
};
