import path from 'node:path';
import ort from 'onnxruntime-node';
import type { InferenceSession } from 'onnxruntime-node';
import type { WrittenGraph } from '../../core/spec.js';
import { correlation } from '../sessions/correlation.js';
import { openSession } from '../sessions/session.js';

/** A written graph and the folder of its weights. */
export interface ProbedGraph {
  graph: WrittenGraph;
  folder: string;
}

/** Rows of a probe, and tokens of each. */
const ROWS = 4;
const TOKENS = 24;

/**
 * How alike two graphs over the same inputs compute: the least correlation of their first output over a few rows of
 * tokens that are the same every time; 1 is the same up to a factor.
 * @returns undefined for graphs that read more than tokens
 */
export async function likenessOf(one: ProbedGraph, other: ProbedGraph): Promise<number | undefined> {
  const [first, second] = [await open(one), await open(other)];
  try {
    let least = 1;
    for (let row = 0; row < ROWS; row++) {
      const feeds = probeOf(first, row);
      if (!feeds) return undefined;
      const output = first.outputNames[0]!;
      const [a, b] = [await first.run(feeds, [output]), await second.run(feeds, [output])];
      least = Math.min(least, correlation(a[output]!.data as Float32Array, b[output]!.data as Float32Array));
    }
    // Machines differ in the digits behind.
    return Number(least.toFixed(3));
  } finally {
    await first.release();
    await second.release();
  }
}

const open = ({ graph, folder }: ProbedGraph): Promise<InferenceSession> =>
  openSession(
    { bytes: Buffer.from(graph.content, 'base64'), weightsIn: path.resolve(folder) },
    { device: 'cpu', threads: 1 },
  );

/** Ids of tokens that every vocabulary has. */
const VOCABULARY = 90;

function probeOf(session: InferenceSession, row: number): Record<string, ort.Tensor> | undefined {
  const integers = (value: (token: number) => number) =>
    new ort.Tensor(
      'int64',
      BigInt64Array.from({ length: TOKENS }, (_, i) => BigInt(value(i))),
      [1, TOKENS],
    );
  const known: Record<string, () => ort.Tensor> = {
    input_ids: () => integers((token) => 5 + ((31 * token + 17 * row + token * token) % (VOCABULARY - 5))),
    attention_mask: () => integers(() => 1),
    token_type_ids: () => integers(() => 0),
    position_ids: () => integers((token) => token),
  };
  const feeds: Record<string, ort.Tensor> = {};
  for (const entry of session.inputMetadata) {
    const make = known[entry.name];
    if (make) feeds[entry.name] = make();
    else if (entry.isTensor && entry.name.startsWith('past_key_values.'))
      feeds[entry.name] = new ort.Tensor(
        'float32',
        [],
        [1, Number(entry.shape[1]), 0, Number(entry.shape[3])],
      );
    else return undefined;
  }
  return feeds;
}
