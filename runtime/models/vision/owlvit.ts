import { defineFamily, UNCHECKED_MEMORY } from '../family.js';
import { configOf, heads } from './owl-detector.js';

/** modeling_owlvit.py */
export const owlvit = defineFamily({
  ...{
    modelTypes: ['owlvit'],
    readers: { processor: 'OwlViT' },
    usualTask: 'zero-shot-object-detection',
    config: configOf(32),
    prefixes: ['owlvit.'],
    heads,
  },
  limits: [UNCHECKED_MEMORY],
});
