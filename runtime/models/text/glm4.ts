import { defineFamily } from '../family.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { glmConfig, type Glm, glmModel } from '../bases/decoder/interleaved-rope.js';

/** Norms stand before and behind. modeling_glm4.py */
export const glm4 = defineFamily({
  modelTypes: ['glm4'],
  config: glmConfig,
  ...llamaLike<Glm>((c) => ({
    ...glmModel(c),
    norms: 'around',
    normsBehind: ['post_self_attn_layernorm', 'post_mlp_layernorm'],
  })),
});
