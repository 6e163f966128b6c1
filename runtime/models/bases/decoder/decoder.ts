import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { DecoderInputs } from '../../layers/decoder-inputs.js';

/** A language model without an encoder, as its family has it. */
export interface Decoder {
  layers: number;
  /** Of the states. */
  width: number;
  vocabulary: number;
  /** Heads of keys and values, and their width. */
  keyHeads: number;
  headWidth: number;
  /** Of the vectors that stand for tokens and features; absent where it is that of the states. `place` takes them apart. */
  vectorWidth?: number;
  /** float32 [rows, tokens, width of the vectors] of int64 [rows, tokens]. */
  embed(g: GraphWriter, ids: Value): Value;
  /** Adds what is known of positions to the tokens' vectors; absent where they stay as they are. */
  place?(g: GraphWriter, x: Value, inputs: DecoderInputs): Value;
  layer(g: GraphWriter, x: Value, layer: number, inputs: DecoderInputs): Value;
  /** What comes after the last layer. */
  finish(g: GraphWriter, x: Value): Value;
  /** float32 [rows, 1, vocabulary] of states [rows, 1, width]. */
  scores(g: GraphWriter, x: Value): Value;
  /** The same by the matrix alone, without what the model's head does beside it; absent where it does nothing. */
  plainScores?(g: GraphWriter, x: Value): Value;
  /** Labels of a classifier over the last token. */
  labels: number;
  padId: number | undefined;
}
