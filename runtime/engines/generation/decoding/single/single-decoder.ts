import { dirname, join } from 'node:path';
import type { InferenceSession } from 'onnxruntime-node';
import { RunError } from '../../../../core/errors.js';
import { type Graph, readGraph, writeGraph } from '../../../../onnx/graph.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import type { Json } from '../../../repository/model-folder.js';
import { openSession } from '../../../sessions/session.js';
import { contextLengthOf } from '../../../repository/sequence-lengths.js';
import { bytesPerToken, type CacheInput, cacheInputsOf } from './cache-inputs.js';
import { promptChunk } from '../prompt-chunk.js';
import { withLastScores } from '../graph/decoder-graph.js';
import { branches, positionsOf, switchLength } from '../graph/decoder-layout.js';
import { takesPromptsInParts } from '../batch/decoder-trial.js';
import type { Decoder } from '../decoder.js';
import { type PlainGraph, startPlainDecoding } from './single-decoding.js';

export interface PlainDecoder extends Decoder {
  /** Bytes of cache that a token takes. */
  bytesPerToken: number;
  /** Longest sequence that the model was made for. */
  contextLength: number | undefined;
}

export const decoderPath = ({ dir, spec }: LoadRequest): string => join(dir, spec.graphs['model']!);

/**
 * Opens a graph whose generations run by themselves: all of the cache comes out of the graph and goes back in with each
 * step. For graphs that batches can't be made of (openDecoder).
 */
export async function openPlainDecoder(
  request: LoadRequest,
  config: Json,
  whole = readGraph(decoderPath(request)),
): Promise<PlainDecoder> {
  const path = decoderPath(request);
  const session = await openShort(path, whole, request);
  const caches = cacheInputsOf(session, config);
  checkInputs(session, caches);
  const graph: PlainGraph = { session, caches, switchesAfter: switchLength(whole, config) };
  return {
    bytesPerToken: bytesPerToken(caches),
    contextLength: contextLengthOf(config),
    inputNames: session.inputNames,
    positions: positionsOf(whole, config),
    shares: false,
    chunk: (await inParts(graph, whole, config)) ? promptChunk(config) : Infinity,
    start: async () => startPlainDecoding(graph),
  };
}

/** Scores of the last token only, where the graph's end has a form that allows it. */
function openShort(path: string, graph: Graph, request: LoadRequest): Promise<InferenceSession> {
  const short = withLastScores(graph);
  const options = { ...request, arena: true };
  return short === graph
    ? openSession(path, options)
    : openSession(writeGraph(short), { ...options, weightsIn: dirname(path) });
}

/** Branches are taken by the length of what is fed (a merged graph's cached one even takes a single token only). */
async function inParts(graph: PlainGraph, whole: Graph, config: Json): Promise<boolean> {
  return !branches(whole) && takesPromptsInParts(() => startPlainDecoding(graph), graph.caches, config);
}

const KNOWN_INPUTS = new Set([
  ...['input_ids', 'attention_mask', 'position_ids', 'use_cache_branch'],
  ...['num_logits_to_keep', 'logits_to_keep'],
]);

function checkInputs(session: InferenceSession, caches: readonly CacheInput[]): void {
  const known = new Set([...KNOWN_INPUTS, ...caches.map(({ name }) => name)]);
  const odd = session.inputNames.filter((name) => !known.has(name));
  if (odd.length > 0) {
    throw new RunError('not_ready', `the graph wants inputs that a text can't give: ${odd.join(', ')}`);
  }
  if (caches.length === 0 || !session.outputNames.includes('logits')) {
    throw new RunError(
      'not_ready',
      'the graph has no key-value cache; export it with "text-generation-with-past"',
    );
  }
}
