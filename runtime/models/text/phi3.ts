import * as z from 'zod';
import { defineFamily } from '../family.js';
import { epsilon } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { partialRotaryConfig } from '../layers/rope-frequencies.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

const phi3Config = z.object({
  ...llamaConfig,
  ...partialRotaryConfig,
  ...usualSizes({ vocabulary: 32_064, width: 3072, inner: 8192, layers: 32, heads: 32 }),
  rms_norm_eps: epsilon.default(1e-5),
  max_position_embeddings: z.int().min(1).default(4096),
  original_max_position_embeddings: z.int().min(1).default(4096),
  sliding_window: z.int().min(1).nullish(),
  pad_token_id: z.int().nullable().default(32_000),
});

/** Fused projections. modeling_phi3.py */
export const phi3 = defineFamily({
  modelTypes: ['phi3'],
  readers: { rope: 'recomputed' },
  limits: [
    'Beams of a "longrope" text that grow beyond its first length while it is written are refused.',
    'Prompts beyond that length are read in one run, which takes more memory, and keep no prefix for the next one.',
  ],
  config: phi3Config,
  ...llamaLike<z.output<typeof phi3Config>>((c) => ({
    ...llamaSizes(c),
    bias: {},
    fused: true,
    window: () => c.sliding_window ?? undefined,
  })),
});
