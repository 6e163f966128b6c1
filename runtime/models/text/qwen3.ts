import * as z from 'zod';
import { defineFamily } from '../family.js';
import { llamaSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { config, windows } from '../bases/decoder/qwen-decoder.js';

const qwen3Config = config.extend({ head_dim: z.int().min(1).default(128) });

/** modeling_qwen3.py */
export const qwen3 = defineFamily({
  modelTypes: ['qwen3'],
  config: qwen3Config,
  ...llamaLike<z.output<typeof qwen3Config>>((c) => ({
    ...llamaSizes(c),
    headNorms: 'head',
    window: windows(c),
  })),
});
