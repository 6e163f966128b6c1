import { defineFamily } from '../family.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { glmConfig, type Glm, glmModel } from '../bases/decoder/interleaved-rope.js';

/** modeling_glm.py */
export const glm = defineFamily({
  modelTypes: ['glm'],
  config: glmConfig,
  ...llamaLike<Glm>(glmModel),
});
