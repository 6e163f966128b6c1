import { defineFamily } from '../family.js';
import { configOf, heads } from './owl-detector.js';

/** The same with another training, and a score for objects of any kind, which nobody reads here. modeling_owlv2.py */
export const owlv2 = defineFamily({
  ...{ modelTypes: ['owlv2'], config: configOf(16), prefixes: ['owlv2.'], heads },
  limits: [
    'A run’s memory is not checked before: give the server what `plan` says.',
    'Preparing an image of 12 megapixels takes 1.7 seconds of a core.',
  ],
});
