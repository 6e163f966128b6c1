import { defineFamily } from '../family.js';
import { seq2seqHeads } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { labelCount } from '../config-fields.js';
import { bartModel } from '../bases/encoder-decoder/bart-decoder.js';
import { sourceClassifier } from '../bases/encoder-decoder/source-classifier.js';
import { PREFIXES, config, type Config, bartOf } from '../bases/encoder-decoder/bart-model.js';

/** modeling_bart.py */
export const bart = defineFamily({
  modelTypes: ['bart'],
  readers: { positions: 'learned', decoderInput: 'shifted' },
  usualTask: 'text2text-generation',
  config,
  prefixes: PREFIXES,
  heads: {
    ...seq2seqHeads<Config>((c) => bartModel(bartOf(c))),
    ...sourceClassifier<Config>((c) => ({ ...bartOf(c), labels: labelCount(c), endId: c.eos_token_id })),
  },
});
