import type { GraphWriter, Shape, Value } from '../../writer/graph-writer.js';

/** An encoder of images, as its family has it. */
export interface ImageModel {
  /** Of the states. */
  width: number;
  labels: number;
  /** Declares the inputs and gives the states that the model ends with. */
  states(g: GraphWriter): Value;
  /** Of the states; [rows, tokens, width] if absent. */
  shape?: Shape;
  /** What the model calls `pooler_output`, float32 [rows, width]; undefined where the checkpoint has none. */
  pool?(g: GraphWriter, states: Value): Value | undefined;
  /** Of the pooled output; [rows, width] if absent. */
  pooledShape?: Shape;
  /** Scores of labels, float32 [rows, labels]. */
  classify(g: GraphWriter, states: Value): Value;
}
