import { defineFamily } from '../family.js';
import { llamaSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { config, type Config, windows } from '../bases/decoder/qwen-decoder.js';

/** modeling_qwen2.py */
export const qwen2 = defineFamily({
  modelTypes: ['qwen2'],
  config,
  ...llamaLike<Config>((c) => ({
    ...llamaSizes(c),
    bias: { projections: true },
    window: windows(c),
  })),
});
