import { defineArchitecture } from '../family.js';
import { configOf, heads } from './owl-detector.js';

/** modeling_owlvit.py */
export const owlvit = defineArchitecture({
  ...{ modelTypes: ['owlvit'], config: configOf(32), prefixes: ['owlvit.'], heads },
});
