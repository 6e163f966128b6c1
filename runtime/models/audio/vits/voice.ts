import type { GraphWriter, Value } from '../../writer/graph-writer.js';

/** One voice of several, or none of them, which Python speaks with where no `speaker_id` is given. */
export interface VitsVoice {
  /** float32 [1, speaker_embedding_size, 1] */
  vector: Value;
  /** float32 [1]: 1, or 0 for no voice. */
  given: Value;
}

/** What a layer makes of the voice: without one not even its bias. */
export const ofVoice = (
  g: GraphWriter,
  { vector, given }: VitsVoice,
  layer: (vector: Value) => Value,
): Value => g.node('Mul', [layer(vector), given]);
