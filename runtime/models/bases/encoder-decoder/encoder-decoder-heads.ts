import type { Family } from '../../family.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { writeCrossCache, writeRunningDecoder } from './running-cross-decoder.js';
import type { SourceDecoder } from '../../layers/cross-decoder.js';
import { textInputs } from '../../layers/text-inputs.js';
import type { TextInputs } from '../../layers/text-inputs.js';

/** The same with an encoder of text. */
export interface Seq2Seq extends SourceDecoder {
  encode(g: GraphWriter, inputs: TextInputs): Value;
}

/** The graphs of a decoder that attends to a source, beside that of its encoder (running-decoder.ts). */
export function sourceDecoderRoles<C>(modelOf: (config: C) => SourceDecoder) {
  return {
    cross_key_values: (g: GraphWriter, config: C) => writeCrossCache(g, modelOf(config)),
    decoder_model_merged: (g: GraphWriter, config: C) => writeRunningDecoder(g, modelOf(config)),
  };
}

/** The graphs of an encoder-decoder of text. */
export function seq2seqRoles<C>(modelOf: (config: C) => Seq2Seq) {
  return {
    encoder_model: (g: GraphWriter, config: C) => {
      const model = modelOf(config);
      const states = model.encode(g, textInputs(g));
      g.output('last_hidden_state', states, 'float32', ['rows', 'tokens', model.width]);
    },
    ...sourceDecoderRoles(modelOf),
  };
}

export function seq2seqHeads<C>(modelOf: (config: C) => Seq2Seq): Family<C>['heads'] {
  return { 'seq2seq-lm': seq2seqRoles(modelOf) };
}
