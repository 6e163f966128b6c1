import { printable } from '../../../../runtime/core/printable.js';
import type { GgufModel } from '../../../../runtime/gguf/index.js';
import type { WeightIndex } from '../../../../runtime/weights/index.js';
import { architectureOf } from '../architectures.js';
import type { GgufFacts, Json } from '../facts.js';
import { jsonText } from '../json-text.js';
import type { GgufVocabulary } from '../tokenizer/vocabulary.js';
import { ggufWeightIndex, type TensorNames } from '../weight-index.js';
import { type GgufProjector, innerWidth } from './projector.js';
import { PROJECTORS } from './projectors.js';
import { type TowerFacts, towerFacts } from './tower-facts.js';

/** An mmproj file whose projector is known. */
export interface OpenTower {
  facts: TowerFacts;
  projector: GgufProjector;
}

/** Keys that every encoder of images has, and those that llama.cpp does not read either. */
const KEYS = new Set([
  ...['projector_type', 'vision.projector_type', 'has_vision_encoder', 'vision.image_size'],
  ...['vision.patch_size', 'vision.embedding_length', 'vision.feed_forward_length', 'vision.block_count'],
  ...['vision.projection_dim', 'vision.attention.head_count', 'vision.attention.layer_norm_epsilon'],
  ...['vision.image_mean', 'vision.image_std'],
  ...['has_llava_projector'],
]);

/** Keys that say of something that it is not there. */
const ABSENT = new Set(['has_audio_encoder', 'has_text_encoder', 'use_gelu', 'use_silu']);

/** @throws WeightsError for a projector that is not known, and for what nothing here reads */
export function openTower(model: GgufModel): OpenTower {
  const facts = towerFacts(model);
  if (!Object.hasOwn(PROJECTORS, facts.projector))
    throw facts.refuse(
      `has the projector ${printable(facts.projector)}, which no graph can be written for (${Object.keys(PROJECTORS).join(', ')})`,
      'take a repository with its PyTorch weights, or leave out pictures with --task chat',
    );
  const projector = PROJECTORS[facts.projector]!(facts);
  requireKnownKeys(facts, projector);
  const { activations } = projector;
  const said = activations.filter((key) => facts.value(key) === true);
  if (activations.length > 0 && said.length !== 1)
    throw facts.refuse(`does not compute by clip.${activations.join(' alone, nor by clip.')} alone`);
  return { facts, projector };
}

function requireKnownKeys(
  { metadata, value, refuse }: TowerFacts,
  { keys, activations }: GgufProjector,
): void {
  for (const key of metadata.keys()) {
    if (!key.startsWith('clip.')) continue;
    const own = key.slice('clip.'.length);
    if (
      KEYS.has(own) ||
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
  const [width, own] = [text.count('embedding_length'), facts.size('vision.projection_dim')];
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
  const count = facts.size('vision.block_count');
  for (const name of facts.tensors.keys()) {
    const [, layer] = /^v\.blk\.(\d+)\./.exec(name) ?? [];
    if (Number(layer ?? 0) >= count)
      throw facts.refuse(`has ${printable(name)}, and clip.vision.block_count is ${count}`);
  }
  return { ...projector, inLayer };
}

/** Older files have the two products of a layer by each other's names. */
const isSwapped = (facts: TowerFacts): boolean =>
  facts.shapeOf('v.blk.0.ffn_up.weight').at(-1) === innerWidth(facts);

/** The files about images, by path. */
export const towerFiles = ({ facts, projector }: OpenTower): Record<string, string> => ({
  'preprocessor_config.json': jsonText(projector.processing(facts)),
  'processor_config.json': jsonText(projector.processor(facts)),
});

interface Language {
  facts: GgufFacts;
  vocabulary: GgufVocabulary;
  /** Its config.json. */
  config: Json;
}

/** config.json of both. @throws WeightsError where the vocabulary lacks a token of images */
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
        `has no token ${token} in its vocabulary, which stands for pictures`,
        'take a file of the model that was converted with all of its tokens',
      );
    },
  });
}
