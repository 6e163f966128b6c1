import { printable } from '../../../../runtime/core/printable.js';
import type { GgufModel } from '../../../../runtime/gguf/index.js';
import type { WeightIndex } from '../../../../runtime/weights/index.js';
import { architectureOf } from '../architectures.js';
import type { GgufFacts, Json } from '../facts.js';
import { jsonText } from '../json-text.js';
import type { GgufVocabulary } from '../tokenizer/vocabulary.js';
import { ggufWeightIndex, type TensorNames } from '../weight-index.js';
import { firstWide, type GgufProjector, innerWidth } from './projector.js';
import { PROJECTORS } from './projectors.js';
import { type Medium, type TowerFacts, towerFacts } from './tower-facts.js';

/** An mmproj file whose projector is known. */
export interface OpenTower {
  facts: TowerFacts;
  projector: GgufProjector;
}

/** Keys that every encoder has, and those that llama.cpp does not read either. */
const SIZES = [
  ...['embedding_length', 'feed_forward_length', 'block_count', 'projection_dim'],
  ...['attention.head_count', 'attention.layer_norm_epsilon', 'projector_type'],
];
const PIXELS = ['image_size', 'patch_size', 'image_mean', 'image_std'];

const keysOf = (medium: Medium): ReadonlySet<string> =>
  new Set([
    ...['projector_type', 'has_llava_projector', `has_${medium}_encoder`],
    ...[...SIZES, ...(medium === 'vision' ? PIXELS : [])].map((key) => `${medium}.${key}`),
  ]);

/** Keys that say of something that it is not there. */
const ABSENT = new Set([
  ...['has_vision_encoder', 'has_audio_encoder', 'has_text_encoder', 'use_gelu', 'use_silu'],
]);

/** @throws WeightsError for a projector that is not known, and for what nothing here reads */
export function openTower(model: GgufModel): OpenTower {
  const facts = towerFacts(model);
  if (!Object.hasOwn(PROJECTORS, facts.projector))
    throw facts.refuse(
      `has the projector ${printable(facts.projector)}, which no graph can be written for (${Object.keys(PROJECTORS).join(', ')})`,
      'take a repository with its PyTorch weights, or hold conversations of texts with --task chat',
    );
  const projector = PROJECTORS[facts.projector]!(facts);
  if (projector.medium !== facts.medium)
    throw facts.refuse(`has the projector ${facts.projector} for ${facts.medium}`);
  requireKnownKeys(facts, projector);
  const { activations } = projector;
  const said = activations.filter((key) => facts.value(key) === true);
  if (activations.length > 0 && said.length !== 1)
    throw facts.refuse(`does not compute by clip.${activations.join(' alone, nor by clip.')} alone`);
  return { facts, projector };
}

function requireKnownKeys(
  { metadata, value, refuse, medium }: TowerFacts,
  { keys, activations }: GgufProjector,
): void {
  const usual = keysOf(medium);
  for (const key of metadata.keys()) {
    if (!key.startsWith('clip.')) continue;
    const own = key.slice('clip.'.length);
    if (
      usual.has(own) ||
      keys.includes(own) ||
      activations.some((one) => one === own) ||
      (ABSENT.has(own) && value(own) === false)
    )
      continue;
    throw refuse(`has ${printable(key)}, which nothing reads`);
  }
}

/** What a file of a model has to be for a tower. @throws WeightsError where both are not of one model */
export function requirePair({ facts, projector }: OpenTower, text: GgufFacts): void {
  const { languages } = projector;
  if (!languages.includes(text.architecture))
    throw facts.refuse(
      `is a tower of ${languages.join(' or ')}, and ${text.file} is ${printable(text.architecture)}`,
    );
  const [width, own] = [text.count('embedding_length'), facts.size(`${facts.medium}.projection_dim`)];
  if (width !== own)
    throw facts.refuse(
      `makes features of ${own} numbers, and ${text.file} takes ${width}: they are of two models`,
    );
}

/** The tensors of a language model and its tower, by the names that transformers has for them. */
export function withTower({ facts, projector }: OpenTower, text: WeightIndex): WeightIndex {
  const tensors = projector.join?.(facts) ?? facts.tensors;
  const tower = ggufWeightIndex({ ...facts, tensors }, namesOf(facts, projector));
  return new Map([
    ...[...text].map(([name, tensor]) => [projector.inModel(name), tensor] as const),
    ...tower,
  ]);
}

function namesOf(facts: TowerFacts, projector: GgufProjector): TensorNames {
  const { ffn_up, ffn_down, ...others } = projector.inLayer as Record<'ffn_up' | 'ffn_down', string>;
  const inLayer = isSwapped(facts) ? { ...others, ffn_up: ffn_down, ffn_down: ffn_up } : projector.inLayer;
  const key = `${facts.medium}.block_count`;
  const count = facts.size(key);
  for (const name of facts.tensors.keys()) {
    const [, layer] = /^[va]\.blk\.(\d+)\./.exec(name) ?? [];
    if (Number(layer ?? 0) >= count)
      throw facts.refuse(`has ${printable(name)}, and clip.${key} is ${count}`);
  }
  return { ...projector, inLayer };
}

/** Older files have the two products of a layer by each other's names. */
const isSwapped = (facts: TowerFacts): boolean =>
  facts.shapeOf(firstWide(facts)).at(-1) === innerWidth(facts);

/** The files about media, by path. */
export const towerFiles = ({ facts, projector }: OpenTower): Record<string, string> => ({
  'preprocessor_config.json': jsonText(projector.processing(facts)),
  'processor_config.json': jsonText(projector.processor(facts)),
});

/** What users call media. */
export const WORDS: Readonly<Record<Medium, string>> = { vision: 'images', audio: 'audio' };

interface Language {
  facts: GgufFacts;
  vocabulary: GgufVocabulary;
  /** Its config.json. */
  config: Json;
}

/** config.json of both. @throws WeightsError where the vocabulary lacks a token of media */
export function towerConfig(
  { facts, projector }: OpenTower,
  { facts: text, vocabulary, config }: Language,
): Json {
  const { tokens } = vocabulary;
  return projector.config(facts, {
    ...{ facts: text, config, modelType: architectureOf(text).modelType },
    tokenId(token) {
      const id = tokens.indexOf(token);
      if (id >= 0) return id;
      throw text.refuse(
        `has no token ${token} in its vocabulary, which stands for ${WORDS[facts.medium]}`,
        'take a file of the model that was converted with all of its tokens',
      );
    },
  });
}
