import type { InferenceSession } from 'onnxruntime-node';
import { shapeOf } from '../../sessions/tensors.js';
import type { Decoding } from './decoder.js';

/** A decoding that others can go on from: what it has seen is shared, and never changed in place. */
export interface ForkableDecoding extends Decoding {
  fork(): ForkableDecoding;
}

/** True for a graph that was made for one row. */
export function hasSingleRow(session: InferenceSession): boolean {
  return shapeOf(session, 'input_ids')[0] === 1;
}

/** Rows of a graph that takes one at a time, as many as are wanted. */
export function decodeRowByRow(first: ForkableDecoding): Decoding {
  let rows = [first];
  return {
    prefill: (prompt) => first.prefill(prompt),
    async step(tokens) {
      const scores: Float32Array[] = [];
      for (const [i, row] of rows.entries()) scores.push((await row.step([tokens[i]!]))[0]!);
      return scores;
    },
    reorder(from) {
      rows = from.map((source) => rows[source]!.fork());
    },
    end() {
      rows = [];
    },
  };
}
