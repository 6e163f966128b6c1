import type { InferenceSession } from 'onnxruntime-node';
import { shapeOf } from '../../sessions/tensors.js';
import type { Decoding } from './decoder.js';

/** A decoding that can be forked: its cache is shared with the forks and never changed in place. */
export interface ForkableDecoding extends Decoding {
  fork(): ForkableDecoding;
}

/** True for a graph that takes exactly one row. */
export function hasSingleRow(session: InferenceSession): boolean {
  const tokens = session.inputNames.includes('input_ids') ? 'input_ids' : 'inputs_embeds';
  return shapeOf(session, tokens)[0] === 1;
}

/** Decodes any number of rows with a graph that takes one row at a time. */
export function decodeRowByRow(first: ForkableDecoding): Decoding {
  let rows = [first];
  return {
    prefill: (prompt, tell) => first.prefill(prompt, tell),
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
