import { defineFamily } from '../family.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { glm4Model, glmConfig, type Glm } from '../bases/decoder/interleaved-rope.js';

/** Norms stand before and behind. modeling_glm4.py */
export const glm4 = defineFamily({
  modelTypes: ['glm4'],
  config: glmConfig,
  ...llamaLike<Glm>(glm4Model),
});
