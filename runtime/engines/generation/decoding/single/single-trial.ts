import type { Json } from '../../../repository/model-folder.js';
import { nearlyEqual, trialTokens } from '../trial.js';
import { type SingleGraph, startSingleDecoding } from './single-decoding.js';

/** Whether a text fed in two parts gets what it gets whole. */
export async function allowsChunkedPrefill(graph: SingleGraph, config: Json): Promise<boolean> {
  const tokens = trialTokens(config)(9, 11);
  const { signal } = new AbortController();
  const scores = (chunk: number) => startSingleDecoding(graph, { chunk, signal }).prefill({ tokens });
  try {
    return nearlyEqual(await scores(Infinity), await scores(5), graph.caches[0]!.type);
  } catch {
    // A graph that refuses these shapes.
    return false;
  }
}
