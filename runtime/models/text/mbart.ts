import { defineFamily } from '../family.js';
import { seq2seqHeads } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { bartModel } from '../bases/encoder-decoder/bart-decoder.js';
import { PREFIXES, config, type Config, bartOf } from '../bases/encoder-decoder/bart-model.js';

/** BART with its norms before. modeling_mbart.py */
export const mbart = defineFamily({
  modelTypes: ['mbart'],
  readers: { positions: 'learned', decoderInput: 'rotated' },
  config,
  prefixes: PREFIXES,
  heads: seq2seqHeads<Config>((c) => bartModel({ ...bartOf(c), normsBefore: true })),
});
