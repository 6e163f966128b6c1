import * as z from 'zod';
import { size } from '../../config-fields.js';
import { llamaConfig, usualSizes, windowConfig, windowOf } from './llama-config.js';

export const config = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 151_936, width: 4096, inner: 22_016, layers: 32, heads: 32 }),
  max_position_embeddings: size.default(32_768),
  num_key_value_heads: size.nullable().default(32),
  ...windowConfig,
  use_sliding_window: z.boolean().nullish(),
  max_window_layers: z.int().min(0).default(28),
});

export type Config = z.output<typeof config>;

/** Layers from max_window_layers on see a window, where the configuration lets them. */
export const windows = (c: Config) =>
  windowOf(
    { ...c, sliding_window: c.use_sliding_window ? (c.sliding_window ?? 4096) : null },
    (layer) => layer >= c.max_window_layers,
  );
