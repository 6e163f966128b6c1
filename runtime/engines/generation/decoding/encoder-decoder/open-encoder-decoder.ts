import type { Tensor } from 'onnxruntime-node';
import type { LoadRequest } from '../../../../core/load-request.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { contextLengthOf, partOf } from '../../../repository/sequence-lengths.js';
import { graphSource } from '../../../sessions/graph-source.js';
import { openSession } from '../../../sessions/session.js';
import { createCacheBudget } from '../cache/cache-budget.js';
import { checkPromptFits, planDecoderMemory } from '../cache/decoder-memory.js';
import { type CacheFootprint, startWithReservation } from '../cache/reservation.js';
import type { EncoderDecoder, DecodingRequest } from '../decoder.js';
import { openTokenEmbedder, type TokenEmbedder } from '../embeddings/token-embedder.js';
import { checkDecoderGraphs } from './check-graphs.js';
import { crossCacheBytesPerToken, emptyCrossCache } from './cross-cache.js';
import { type DecoderGraphs, startCrossDecoding } from './cross-decoding.js';
import type { Encoder } from './encoder.js';

/** @param embedder the table of tokens, for models whose graphs take embeddings */
export type OpenEncoder<Source> = (
  request: LoadRequest,
  config: Json,
  embedder: TokenEmbedder | undefined,
) => Promise<Encoder<Source>>;

/** Opens a sequence-to-sequence model: its encoder, and its decoder, merged or as a pair. */
export async function openEncoderDecoder<Source>(
  request: LoadRequest,
  config: Json,
  openEncoder: OpenEncoder<Source>,
): Promise<EncoderDecoder<Source>> {
  const embedder = await openTokenEmbedder(request);
  const [encoder, graphs] = await Promise.all([
    openEncoder(request, config, embedder),
    openDecoderGraphs(request, embedder),
  ]);
  const empty = emptyCrossCache(graphs.first, config);
  const { self, cross } = crossCacheBytesPerToken(empty);
  const memory = planDecoderMemory(request, {
    config: partOf(config, 'encoder'),
    contextLength: encoder.maxLength,
    ...{ bytesPerToken: self + cross, chunk: Infinity },
  });
  const budget = createCacheBudget(memory.cacheBytes, memory.cacheLimit);
  const footprint = cacheFootprintOf(empty, config);
  return {
    async start(source, decoding) {
      const length = encoder.lengthOf(source);
      checkPromptFits(memory, length);
      return startWithReservation(budget, { ...footprint(length, decoding), request: decoding }, async () =>
        startCrossDecoding(graphs, {
          empty,
          states: await encoder.encode(source, decoding.signal),
          seen: encoder.seenOf?.(source),
        }),
      );
    },
  };
}

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

const FLOAT = 4;

/** Room at the start for models with relative positions that name no length: what T5 was trained on. */
const DEFAULT_LENGTH = 512;

/** Every row has keys and values of its tokens and of the source, and a copy of the states. */
function cacheFootprintOf(empty: Record<string, Tensor>, config: Json) {
  const { self, cross } = crossCacheBytesPerToken(empty);
  const states = (firstNumber(partOf(config, 'encoder'), 'd_model', 'hidden_size') ?? 0) * FLOAT;
  const longest = contextLengthOf(partOf(config, 'decoder')) ?? DEFAULT_LENGTH;
  return (length: number, { maxRows, maxLength }: DecodingRequest): CacheFootprint => ({
    ...{ rows: maxRows, tokens: Math.min(maxLength, longest) },
    ...{ bytesPerToken: self, fixedBytes: length * (cross + states) },
  });
}
