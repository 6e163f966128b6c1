import { defineFamily } from '../family.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { type Mixture, mixtureOf, expertConfig } from './granite.js';

/** Whatever a configuration says of a shared layer, it has none. modeling_granitemoe.py */
export const graniteMoe = defineFamily({
  modelTypes: ['granitemoe'],
  config: expertConfig,
  ...llamaLike<Mixture>((c) => mixtureOf({ ...c, shared_intermediate_size: 0 })),
});
