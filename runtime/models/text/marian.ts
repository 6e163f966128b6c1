import * as z from 'zod';
import { defineFamily } from '../family.js';
import { seq2seqHeads } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { size } from '../config-fields.js';
import { bartModel } from '../bases/encoder-decoder/bart-decoder.js';
import { bartSizes } from '../bases/encoder-decoder/bart-config.js';
import { storedSines } from '../bases/encoder-decoder/positions.js';
import { PREFIXES, config } from '../bases/encoder-decoder/bart-model.js';

const marianConfig = config.extend({
  decoder_vocab_size: size.nullish(),
  pad_token_id: z.int().min(0).default(58_100),
  eos_token_id: z.int().min(0).default(0),
});

/** modeling_marian.py */
export const marian = defineFamily({
  modelTypes: ['marian'],
  usualTask: 'translation',
  config: marianConfig,
  prefixes: PREFIXES,
  heads: seq2seqHeads<z.output<typeof marianConfig>>((c) =>
    bartModel({
      ...bartSizes(c),
      ...{
        normsBefore: false,
        embeddingNorm: false,
        positions: storedSines({ rows: c.max_position_embeddings, width: c.d_model }),
      },
      answerVocabulary: c.decoder_vocab_size ?? c.vocab_size,
    }),
  ),
});
