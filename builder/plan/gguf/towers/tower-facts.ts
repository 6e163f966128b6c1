import { printable } from '../../../../runtime/core/printable.js';
import type { GgufModel } from '../../../../runtime/gguf/index.js';
import { ggufFacts, type GgufFacts } from '../facts.js';
import { rounded } from '../rounded.js';

/** What an encoder reads. */
export type Medium = 'vision' | 'audio';

/** What an mmproj file says of its encoder. Keys are those behind `clip.`: `vision.image_size`. */
export interface TowerFacts extends GgufFacts {
  medium: Medium;
  /** Of its projector: `gemma3`. */
  projector: string;
  /** A whole number from 1 on. @throws WeightsError for others, and where it is missing */
  size(key: string): number;
  /** The same, or undefined where it is missing. @param most 65,536 by default */
  optionalSize(key: string, most?: number): number | undefined;
  /** A number above 0. @throws WeightsError for others, and where it is missing */
  positive(key: string): number;
  /** Three finite numbers. @throws WeightsError for others, and where they are missing */
  colours(key: string): number[];
}

const REMEDY = 'take another mmproj file of the model, or hold conversations of texts with --task chat';

/** Far beyond any encoder. */
const MOST = 65_536;

/** @throws WeightsError for a file that is no mmproj, or has no encoder of images or audio */
export function towerFacts(model: GgufModel): TowerFacts {
  const { refuse: refused, ...facts } = ggufFacts(model);
  const { metadata, architecture } = facts;
  const refuse = (what: string, remedy = REMEDY) => refused(what, remedy);
  if (architecture !== 'clip' || (metadata.get('general.type') ?? 'mmproj') !== 'mmproj')
    throw refuse(`is no tower but a model (${printable(architecture)})`);
  const optionalSize = (key: string, most = MOST): number | undefined => {
    const found = facts.optionalCount(key);
    if (found === undefined || (found >= 1 && found <= most)) return found;
    throw refuse(`has ${found} as clip.${key}`);
  };
  const known = <T>(key: string, found: T | undefined): T => {
    if (found === undefined) throw refuse(`has no clip.${key}`);
    return found;
  };
  const medium = mediumOf({ ...facts, refuse });
  return {
    ...{ ...facts, refuse, optionalSize, medium },
    projector: projectorOf({ ...facts, refuse }, medium),
    size: (key) => known(key, optionalSize(key)),
    positive(key) {
      const found = known(key, facts.optionalNumber(key));
      if (found > 0) return rounded(found);
      throw refuse(`has ${found} as clip.${key}`);
    },
    colours(key) {
      const found = facts.value(key);
      if (!(found instanceof Float32Array) || found.length !== 3 || !found.every(Number.isFinite))
        throw refuse(`has no three numbers as clip.${key}`);
      return [...found].map(rounded);
    },
  };
}

function mediumOf({ value, refuse }: GgufFacts): Medium {
  const medium = (['vision', 'audio'] as const).find((one) => value(`has_${one}_encoder`) === true);
  if (medium !== undefined) return medium;
  throw refuse('has no encoder of images or audio (clip.has_vision_encoder, clip.has_audio_encoder)');
}

function projectorOf({ optionalText, refuse }: GgufFacts, medium: Medium): string {
  const name = optionalText(`${medium}.projector_type`) ?? optionalText('projector_type');
  if (name === undefined) throw refuse('does not name its projector (clip.projector_type)');
  return name;
}
