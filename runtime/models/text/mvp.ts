import * as z from 'zod';
import { defineFamily } from '../family.js';
import { seq2seqHeads } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { bartModel } from '../bases/encoder-decoder/bart-decoder.js';
import { PREFIXES, config, type Config, bartOf } from '../bases/encoder-decoder/bart-model.js';

const mvpConfig = config.extend({
  use_prompt: z
    .literal(false, 'true is read in two ways: version 5 of transformers has no prompt in the encoder')
    .default(false),
});

/** BART, with prompts that are learned beside it, which are not written. modeling_mvp.py */
export const mvp = defineFamily({
  modelTypes: ['mvp'],
  readers: { positions: 'learned', decoderInput: 'shifted' },
  config: mvpConfig,
  prefixes: PREFIXES,
  heads: seq2seqHeads<Config>((c) => bartModel(bartOf(c))),
});
