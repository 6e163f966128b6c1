import { defineFamily, UNCHECKED_MEMORY } from '../family.js';
import { configOf, heads } from './owl-detector.js';

/** The same with another training, and a score for objects of any kind, which nobody reads here. modeling_owlv2.py */
export const owlv2 = defineFamily({
  ...{
    modelTypes: ['owlv2'],
    readers: { processor: 'Owlv2', detector: 'squares' },
    config: configOf(16),
    prefixes: ['owlv2.'],
    heads,
  },
  limits: [UNCHECKED_MEMORY, 'Preparing an image of 12 megapixels takes 1.7 seconds of a core.'],
});
