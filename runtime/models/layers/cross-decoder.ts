import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** float32 [rows, tokens, heads · width] each. */
export interface Pair {
  key: Value;
  value: Value;
}

export interface Triple extends Pair {
  query: Value;
}

/** What a decoder's layers read beside the states of their tokens. */
export interface DecoderState {
  /** int64 [rows or 1, tokens]: positions of the fed tokens in their text. */
  positions: Value;
  /** int64 [rows or 1, tokens, all tokens]: how far a key lies behind a fed token. */
  distances(): Value;
  /**
   * Attention of the fed tokens to those before them and to each other: float32 [rows, tokens, heads · width].
   * @param bias added to scores, float32 [rows or 1, heads, tokens, all tokens]
   */
  attendSelf(layer: number, projected: Triple, bias?: Value): Value;
  /** Attention to the source. */
  attendSource(layer: number, query: Value): Value;
}

/** A decoder that attends to the states of an encoder, as its architecture has it. */
export interface SourceDecoder {
  /** Of the encoder's states. */
  width: number;
  /** True where the source stands before the text in one row: what attends to former tokens attends to it, too. */
  prefixed?: boolean;
  /** True where its graph tells how heads look at the source, for those that a run asks for. */
  tellsAttention?: boolean;
  /** True where the decoder reads vectors of tokens in place of ids. */
  embedded?: boolean;
  vocabulary: number;
  decoderLayers: number;
  /** Of the decoder. */
  heads: number;
  headWidth: number;
  /** What scores are multiplied with; 1 / sqrt(headWidth) if absent. */
  scale?: number;
  /** Keys and values of the source for a layer of the decoder, of states [rows, length, width]. */
  projectSource(g: GraphWriter, layer: number, states: Value): Pair;
  /** int64 [rows, tokens], or vectors -> float32 [rows, tokens, width], all layers and what comes after the last one. */
  decode(g: GraphWriter, ids: Value, state: DecoderState): Value;
  /** float32 [rows, 1, vocabulary] of states [rows, 1, width]. */
  scores(g: GraphWriter, x: Value): Value;
}
