import { defineArchitecture } from '../family.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { gemmaConfig, common } from '../bases/decoder/gemma-decoder.js';

/** modeling_gemma.py */
export const gemma = defineArchitecture({
  modelTypes: ['gemma'],
  config: gemmaConfig,
  ...llamaLike(common),
});
