import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { size } from '../config.js';
import { llamaConfig, llamaSizes, usualSizes, windowConfig, windowOf } from './config.js';
import { llamaLike } from './llama-like.js';

const config = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 151_936, width: 4096, inner: 22_016, layers: 32, heads: 32 }),
  max_position_embeddings: size.default(32_768),
  num_key_value_heads: size.nullable().default(32),
  ...windowConfig,
  use_sliding_window: z.boolean().nullish(),
  max_window_layers: z.int().min(0).default(28),
});
type Config = z.output<typeof config>;

/** Layers from max_window_layers on see a window, where the configuration lets them. */
const windows = (c: Config) =>
  windowOf(
    { ...c, sliding_window: c.use_sliding_window ? (c.sliding_window ?? 4096) : null },
    (layer) => layer >= c.max_window_layers,
  );

/** modeling_qwen2.py */
export const qwen2 = defineArchitecture({
  modelTypes: ['qwen2'],
  config,
  ...llamaLike<Config>((c) => ({
    ...llamaSizes(c),
    bias: { projections: true },
    window: windows(c),
  })),
});

const qwen3Config = config.extend({ head_dim: z.int().min(1).default(128) });

/** modeling_qwen3.py */
export const qwen3 = defineArchitecture({
  modelTypes: ['qwen3'],
  config: qwen3Config,
  ...llamaLike<z.output<typeof qwen3Config>>((c) => ({
    ...llamaSizes(c),
    headNorms: 'head',
    window: windows(c),
  })),
});
