import { printable } from '../../../../runtime/core/printable.js';
import type { GgufModel } from '../../../../runtime/gguf/index.js';
import { ggufFacts, type GgufFacts } from '../facts.js';
import { rounded } from '../rounded.js';

/** What an mmproj file says of its encoder of images. Keys are those behind `clip.`: `vision.image_size`. */
export interface TowerFacts extends GgufFacts {
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

const REMEDY = 'take another mmproj file of the model, or leave out pictures with --task chat';

/** Far beyond any encoder. */
const MOST = 65_536;

/** @throws WeightsError for a file that is no mmproj, or has no encoder of images */
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
  return {
    ...{ ...facts, refuse, optionalSize },
    projector: projectorOf({ ...facts, refuse }),
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

function projectorOf({ optionalText, refuse, value }: GgufFacts): string {
  if (value('has_vision_encoder') !== true)
    throw refuse('has no encoder of pictures (clip.has_vision_encoder)');
  const name = optionalText('vision.projector_type') ?? optionalText('projector_type');
  if (name === undefined) throw refuse('does not name its projector (clip.projector_type)');
  return name;
}
