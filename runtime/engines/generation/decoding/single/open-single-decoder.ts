import { networkSizes } from '../../../../core/network.js';
import type { InferenceSession } from 'onnxruntime-node';
import { RunError } from '../../../../core/errors.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { type Graph, writeGraph } from '../../../../onnx/graph.js';
import type { Json } from '../../../repository/model-folder.js';
import { contextLengthOf } from '../../../repository/sequence-lengths.js';
import { type GraphSource, weightsFolder } from '../../../sessions/graph-source.js';
import { openSession } from '../../../sessions/session.js';
import { shapeOf } from '../../../sessions/tensors.js';
import { createCacheBudget } from '../cache/cache-budget.js';
import { checkPromptFits, planDecoderMemory } from '../cache/decoder-memory.js';
import { startWithReservation } from '../cache/reservation.js';
import type { Decoder, DecoderFile } from '../decoder.js';
import { checkEmbeddings, EMBEDDINGS_INPUT } from '../embeddings/token-embedder.js';
import { SCORES_INPUT, withChosenScores } from '../graph/chosen-scores.js';
import { hasBranches, maxPositionsOf, ropeSwitchLength } from '../graph/decoder-layout.js';
import { prefillChunkOf, promptScoreBytes } from '../prefill-chunk.js';
import { cacheInputBytesPerToken, type CacheInput, cacheInputsOf } from './cache-inputs.js';
import { type SingleGraph, startSingleDecoding, TOKEN_TYPES_INPUT } from './single-decoding.js';
import { allowsChunkedPrefill } from './single-trial.js';

/**
 * Opens a graph whose generations run by themselves: all of the cache comes out of the graph and goes back in with each
 * step. For graphs that batches can't be made of (open-decoder.ts).
 */
export async function openSingleDecoder(
  request: LoadRequest,
  config: Json,
  { graph: whole, source, embedder }: DecoderFile,
): Promise<Decoder> {
  const session = await openChosenScores(source, whole, request);
  const caches = cacheInputsOf(session, config);
  checkInputs(session, caches);
  checkEmbeddings(session, embedder);
  const graph: SingleGraph = {
    ...{ session, caches, embedder },
    ropeSwitchLength: ropeSwitchLength(whole, config),
  };
  const [bytesPerToken, contextLength] = [cacheInputBytesPerToken(caches), contextLengthOf(config)];
  const chunk = await chunkOf(graph, whole, config);
  const scoredChunk = graph.ropeSwitchLength < Infinity ? Infinity : chunk;
  const memory = planDecoderMemory(request, {
    network: networkSizes(request.spec),
    contextLength,
    bytesPerToken,
    chunk,
  });
  const budget = createCacheBudget(memory.cacheBytes, memory.cacheLimit);
  return {
    inputNames: session.inputNames,
    maxPositions: maxPositionsOf(whole, config),
    sharesRuns: false,
    checkPrompt: (length) => checkPromptFits(memory, length),
    async start(decoding) {
      checkPromptFits(memory, decoding.promptLength);
      const tokens = Math.min(decoding.maxLength, contextLength ?? decoding.maxLength);
      return startWithReservation(
        budget,
        {
          ...{ rows: decoding.maxRows, tokens, bytesPerToken, request: decoding },
          scoreBytes: promptScoreBytes(decoding, { config, chunk: scoredChunk }),
        },
        async () => startSingleDecoding(graph, { chunk, signal: decoding.signal }),
      );
    },
  };
}

/** Scores of the tokens that are looked at, where the graph's end has a form that allows it. */
function openChosenScores(
  source: GraphSource,
  graph: Graph,
  request: LoadRequest,
): Promise<InferenceSession> {
  const short = withChosenScores(graph);
  const options = { ...request, arena: true };
  return short === graph
    ? openSession(source, options)
    : openSession({ bytes: writeGraph(short), weightsIn: weightsFolder(source) }, options);
}

/** Most tokens of a prompt in one run. A step of a decoder that was traced by itself takes one token, of a prompt too. */
async function chunkOf(graph: SingleGraph, whole: Graph, config: Json): Promise<number> {
  if (!hasBranches(whole) && shapeOf(graph.session, 'input_ids')[1] === 1) return 1;
  return (await canChunkPrefill(graph, whole, config)) ? prefillChunkOf(config) : Infinity;
}

/**
 * Features of one image look at each other, so that all of them must be in one run; the trial has none. Branches are taken by the length of what is fed (a merged graph's cached one even
 * takes a single token only).
 */
async function canChunkPrefill(graph: SingleGraph, whole: Graph, config: Json): Promise<boolean> {
  if (hasBranches(whole) || graph.session.inputNames.includes(TOKEN_TYPES_INPUT)) return false;
  return allowsChunkedPrefill(graph, config);
}

const KNOWN_INPUTS = new Set([
  ...['input_ids', EMBEDDINGS_INPUT, 'attention_mask', 'position_ids', 'use_cache_branch'],
  ...['num_logits_to_keep', 'logits_to_keep', TOKEN_TYPES_INPUT, SCORES_INPUT],
]);

function checkInputs(session: InferenceSession, caches: readonly CacheInput[]): void {
  const known = new Set([...KNOWN_INPUTS, ...caches.map(({ name }) => name)]);
  const unknown = session.inputNames.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new RunError('not_ready', `the graph wants inputs that a text can't give: ${unknown.join(', ')}`);
  }
  if (caches.length === 0 || !session.outputNames.includes('logits')) {
    throw new RunError(
      'not_ready',
      'the graph has no key-value cache; export it with "text-generation-with-past"',
    );
  }
}
