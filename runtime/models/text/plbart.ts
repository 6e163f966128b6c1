import * as z from 'zod';
import { defineFamily } from '../family.js';
import { seq2seqHeads } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { bartModel } from '../bases/encoder-decoder/bart-decoder.js';
import { PREFIXES, config, type Config, bartOf } from '../bases/encoder-decoder/bart-model.js';

/** BART of program code. modeling_plbart.py */
export const plbart = defineFamily({
  modelTypes: ['plbart'],
  readers: { positions: 'learned', decoderInput: 'rotated' },
  config: config.extend({ scale_embedding: z.boolean().default(true) }),
  prefixes: PREFIXES,
  heads: seq2seqHeads<Config>((c) => bartModel({ ...bartOf(c), ownTables: !c.tie_word_embeddings })),
});
