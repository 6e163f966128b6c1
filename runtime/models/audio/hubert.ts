import * as z from 'zod';
import { defineFamily } from '../family.js';
import { batchNorm } from '../layers/convolution.js';
import { isListed, LISTED, waveConfig } from '../bases/audio/wave-config.js';
import { waveHeads } from '../bases/audio/wave-encoder.js';

const config = z
  .object({
    ...waveConfig,
    feat_proj_layer_norm: z.boolean().default(true),
    conv_pos_batch_norm: z.boolean().default(false),
  })
  .refine(isListed, LISTED);

const base = 'hubert.';

/** modeling_hubert.py */
export const hubert = defineFamily({
  modelTypes: ['hubert'],
  config,
  prefixes: [base],
  heads: waveHeads<z.output<typeof config>>((c) => ({
    ...{ base, projectionNorm: c.feat_proj_layer_norm },
    ...(c.conv_pos_batch_norm && {
      beforePositions: (g, x) =>
        batchNorm(g, x, `${base}encoder.pos_conv_embed.batch_norm`, { width: c.hidden_size }),
    }),
  })),
});
