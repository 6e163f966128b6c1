import { named } from '../inert-fields.js';
import { defineFamily } from '../family.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { gemmaConfig, common } from '../bases/decoder/gemma-decoder.js';

/** modeling_gemma.py */
export const gemma = defineFamily({
  modelTypes: ['gemma'],
  inert: [{ fields: named('hidden_activation'), reason: 'the network reads hidden_act' }],
  config: gemmaConfig,
  ...llamaLike(common),
});
