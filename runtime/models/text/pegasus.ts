import * as z from 'zod';
import { defineFamily } from '../family.js';
import { seq2seqHeads } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { bartModel } from '../bases/encoder-decoder/bart-decoder.js';
import { bartSizes } from '../bases/encoder-decoder/bart-config.js';
import { storedSines } from '../bases/encoder-decoder/positions.js';
import { PREFIXES, config, type Config } from '../bases/encoder-decoder/bart-model.js';

const pegasusConfig = config.extend({
  pad_token_id: z.int().min(0).default(0),
  eos_token_id: z.int().min(0).default(1),
});

/** modeling_pegasus.py */
export const pegasus = defineFamily({
  modelTypes: ['pegasus'],
  config: pegasusConfig,
  prefixes: PREFIXES,
  heads: seq2seqHeads<Config>((c) =>
    bartModel({
      ...bartSizes(c),
      ...{ normsBefore: true, embeddingNorm: false },
      positions: storedSines({ rows: c.max_position_embeddings, width: c.d_model }),
    }),
  ),
});
