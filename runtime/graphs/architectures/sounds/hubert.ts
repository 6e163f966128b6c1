import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { batchNorm } from '../../blocks/convolution.js';
import { isListed, LISTED, waveConfig } from './config.js';
import { waveHeads } from './wave-encoder.js';

const config = z
  .object({
    ...waveConfig,
    feat_proj_layer_norm: z.boolean().default(true),
    conv_pos_batch_norm: z.boolean().default(false),
  })
  .refine(isListed, LISTED);

const base = 'hubert.';

/** modeling_hubert.py */
export const hubert = defineArchitecture({
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
