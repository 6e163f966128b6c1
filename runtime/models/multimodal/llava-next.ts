import { defineFamily } from '../family.js';
import { PARTS } from './language-model.js';
import { config, squareFeatures, headsOf } from './llava.js';

/** The same for squares of larger pictures. modeling_llava_next.py */
export const llavaNext = defineFamily({
  modelTypes: ['llava_next'],
  readers: { prompts: { image: 'llava-next' } },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: PARTS,
  heads: headsOf(squareFeatures),
});
