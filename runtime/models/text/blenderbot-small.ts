import * as z from 'zod';
import { defineFamily } from '../family.js';
import { seq2seqHeads } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { size } from '../config-fields.js';
import { bartModel } from '../bases/encoder-decoder/bart-decoder.js';
import { bartSizes } from '../bases/encoder-decoder/bart-config.js';
import { learned } from '../bases/encoder-decoder/positions.js';
import { PREFIXES, config, type Config } from '../bases/encoder-decoder/bart-model.js';

const smallConfig = config.extend({
  max_position_embeddings: size.default(512),
  pad_token_id: z.int().min(0).default(0),
});

/** BART, but for the norm in front of its decoder, which positions are added behind. modeling_blenderbot_small.py */
export const blenderbotSmall = defineFamily({
  modelTypes: ['blenderbot-small'],
  readers: { positions: 'learned' },
  config: smallConfig,
  prefixes: PREFIXES,
  heads: seq2seqHeads<Config>((c) =>
    bartModel({
      ...bartSizes(c),
      ...{ normsBefore: false, embeddingNorm: 'answers' },
      positions: learned({ rows: c.max_position_embeddings, width: c.d_model, offset: 0 }),
    }),
  ),
});
