import { defineFamily } from '../family.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { denseConfig, type Dense, hunyuan } from '../bases/decoder/hunyuan-decoder.js';

/** Norms of queries and keys stand behind the turn. modeling_hunyuan_v1_dense.py */
export const hunyuanDense = defineFamily({
  modelTypes: ['hunyuan_v1_dense'],
  config: denseConfig,
  ...llamaLike<Dense>(hunyuan),
});
