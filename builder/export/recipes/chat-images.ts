import { ARIA_EDGE } from '../../../runtime/hub-config/image-edges.js';
import type { SampleInput, Sizes } from '../types.js';
import type { Json } from './config.js';

/** What the encoder of a chat reads of one image. */
export interface ChatImages {
  inputs: Readonly<Record<string, SampleInput>>;
  free: readonly string[];
  traced: Sizes;
  probes: readonly Sizes[];
  /** What stands for a feature, where config.json does not say. */
  token?: number;
}

/** One image a run, as the server has it. */
const ONE: Sizes = { images: 1 };

/** Images of one size, one a run. */
const ofOneSize = (inputs: ChatImages['inputs']): ChatImages => ({
  ...{ inputs, free: [], traced: ONE, probes: [ONE, ONE, ONE] },
});

const TYPES: Readonly<Record<string, (config: Json, processing: Json) => ChatImages | string>> = {
  aria: () =>
    ofOneSize({
      pixel_values: { kind: 'noise', axes: ['images', 3, ARIA_EDGE, ARIA_EDGE] },
      pixel_mask: { kind: 'corner', axes: ['images', ARIA_EDGE, ARIA_EDGE] },
    }),
};

/** What the type's processor gives of an image. @returns a text for a type without a recipe */
export function chatImages(type: string, config: Json, processing: Json): ChatImages | string {
  const found = Object.hasOwn(TYPES, type) ? TYPES[type]! : undefined;
  return found ? found(config, processing) : 'what its processor gives of pictures has no recipe';
}
