import { defineFamily } from '../family.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { gemmaConfig, common } from '../bases/decoder/gemma-decoder.js';

/** modeling_gemma.py */
export const gemma = defineFamily({
  modelTypes: ['gemma'],
  config: gemmaConfig,
  ...llamaLike(common),
});
