import type { LoadRequest } from '../../../../core/load-request.js';
import { graphSource } from '../../../sessions/graph-source.js';
import { openSession } from '../../../sessions/session.js';
import { createCacheBudget } from '../cache/cache-budget.js';
import { startWithReservation } from '../cache/reservation.js';
import type { TokenEmbedder } from '../embeddings/token-embedder.js';
import { checkDecoderGraphs } from './check-graphs.js';
import { crossCacheBytesPerToken, emptyCrossCache } from './cross-cache.js';
import {
  answerLengthOf,
  type CrossDecoderOptions,
  type OpenCrossDecoder,
  stateBytesOf,
} from './cross-decoder.js';
import { type DecoderGraphs, startCrossDecoding } from './cross-decoding.js';

/** Opens an exported decoder, merged or as a pair: one request a run. */
export const openSingleCrossDecoder: OpenCrossDecoder = async (request, options: CrossDecoderOptions) => {
  const { config, embedder, memoryFor } = options;
  const graphs = await openDecoderGraphs(request, embedder);
  const empty = emptyCrossCache(graphs.first, config);
  const { self, cross } = crossCacheBytesPerToken(empty);
  const memory = await memoryFor(self + cross);
  const budget = createCacheBudget(memory.cacheBytes, memory.cacheLimit);
  const longest = answerLengthOf(config);
  // Every row has keys and values of its tokens and of the source, and a copy of the states.
  const sourceBytes = cross + stateBytesOf(config);
  return {
    memory,
    tellsAttention: false,
    decoder: {
      start(decoding, { length, seen, encode }) {
        const footprint = {
          ...{ rows: decoding.maxRows, tokens: Math.min(decoding.maxLength, longest) },
          ...{ bytesPerToken: self, fixedBytes: length * sourceBytes, request: decoding },
        };
        return startWithReservation(budget, footprint, async () =>
          startCrossDecoding(graphs, { empty, states: await encode(), seen }),
        );
      },
    },
  };
};

async function openDecoderGraphs(
  request: LoadRequest,
  embedder: TokenEmbedder | undefined,
): Promise<DecoderGraphs> {
  const open = (role: string) => openSession(graphSource(request, role), { ...request, arena: true });
  const merged = 'decoder_model_merged' in request.spec.graphs;
  const [first, next] = await Promise.all([
    open(merged ? 'decoder_model_merged' : 'decoder_model'),
    merged ? undefined : open('decoder_with_past_model'),
  ]);
  const graphs = { first, next: next ?? first, embedder };
  checkDecoderGraphs(graphs);
  return graphs;
}
