import * as z from 'zod';
import { defineFamily } from '../family.js';
import { seq2seqHeads } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { size } from '../config-fields.js';
import { bartModel } from '../bases/encoder-decoder/bart-decoder.js';
import { bartSizes } from '../bases/encoder-decoder/bart-config.js';
import { learned } from '../bases/encoder-decoder/positions.js';
import { PREFIXES, config, type Config } from '../bases/encoder-decoder/bart-model.js';

const blenderbotConfig = config.extend({
  max_position_embeddings: size.default(128),
  pad_token_id: z.int().min(0).default(0),
});

/** MBART without a norm of what it reads. modeling_blenderbot.py */
export const blenderbot = defineFamily({
  modelTypes: ['blenderbot'],
  readers: { positions: 'learned' },
  config: blenderbotConfig,
  prefixes: PREFIXES,
  heads: seq2seqHeads<Config>((c) =>
    bartModel({
      ...bartSizes(c),
      ...{ normsBefore: true, embeddingNorm: false },
      positions: learned({ rows: c.max_position_embeddings, width: c.d_model, offset: 0 }),
    }),
  ),
});
