import * as z from 'zod';
import { defineFamily } from '../family.js';
import { seq2seqHeads } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { bartModel } from '../bases/encoder-decoder/bart-decoder.js';
import { bartSizes } from '../bases/encoder-decoder/bart-config.js';
import { sinesBehindPadding } from '../bases/encoder-decoder/positions.js';
import { PREFIXES, config, type Config } from '../bases/encoder-decoder/bart-model.js';

const m2mConfig = config.extend({
  activation_function: z.string().default('relu'),
  scale_embedding: z.boolean().default(true),
});

/** modeling_m2m_100.py; NLLB is the same network. */
export const m2m100 = defineFamily({
  modelTypes: ['m2m_100'],
  config: m2mConfig,
  prefixes: PREFIXES,
  heads: seq2seqHeads<Config>((c) =>
    bartModel({
      ...bartSizes(c),
      ...{ normsBefore: true, embeddingNorm: false },
      positions: sinesBehindPadding(c.d_model, c.pad_token_id),
    }),
  ),
});
