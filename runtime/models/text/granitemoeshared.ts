import { defineFamily } from '../family.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { type Mixture, mixtureOf, expertConfig } from './granite.js';

/** modeling_granitemoeshared.py */
export const graniteMoeShared = defineFamily({
  modelTypes: ['granitemoeshared'],
  config: expertConfig,
  ...llamaLike<Mixture>(mixtureOf),
});
