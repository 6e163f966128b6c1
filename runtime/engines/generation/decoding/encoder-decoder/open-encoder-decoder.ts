import { join } from 'node:path';
import type { Tensor } from 'onnxruntime-node';
import type { LoadRequest } from '../../../../core/load-request.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { contextLengthOf, partOf } from '../../../repository/sequence-lengths.js';
import { openSession } from '../../../sessions/session.js';
import { createCacheBudget } from '../cache/cache-budget.js';
import { checkPrompt, decoderMemory } from '../cache/decoder-memory.js';
import { type Footprint, startReserved } from '../cache/reservation.js';
import type { EncoderDecoder, Need } from '../decoder.js';
import { checkDecoder } from './check-graphs.js';
import { bytesPerToken, emptyCache } from './cross-cache.js';
import { type DecoderGraphs, startDecoding } from './cross-decoding.js';
import type { Encoder } from './encoder.js';

/** Opens a sequence-to-sequence model: its encoder, and its decoder, merged or as a pair. */
export async function openEncoderDecoder<Source>(
  request: LoadRequest,
  config: Json,
  openEncoder: (request: LoadRequest, config: Json) => Promise<Encoder<Source>>,
): Promise<EncoderDecoder<Source>> {
  const [encoder, graphs] = await Promise.all([openEncoder(request, config), openDecoderGraphs(request)]);
  const empty = emptyCache(graphs.first, config);
  const { self, cross } = bytesPerToken(empty);
  const memory = decoderMemory(request, {
    config: partOf(config, 'encoder'),
    contextLength: encoder.maxLength,
    ...{ perToken: self + cross, chunk: Infinity },
  });
  const budget = createCacheBudget(memory.cacheBytes, memory.cacheLimit);
  const footprint = footprintOf(empty, config);
  return {
    async start(source, need) {
      const length = encoder.lengthOf(source);
      checkPrompt(memory, length);
      return startReserved(budget, { ...footprint(length, need), need }, async () =>
        startDecoding(graphs, { empty, states: await encoder.encode(source) }),
      );
    },
  };
}

async function openDecoderGraphs(request: LoadRequest): Promise<DecoderGraphs> {
  const open = (role: string) =>
    openSession(join(request.dir, request.spec.graphs[role]!), { ...request, arena: true });
  const merged = 'decoder_model_merged' in request.spec.graphs;
  const [first, next] = await Promise.all([
    open(merged ? 'decoder_model_merged' : 'decoder_model'),
    merged ? undefined : open('decoder_with_past_model'),
  ]);
  const graphs = { first, next: next ?? first };
  checkDecoder(graphs);
  return graphs;
}

const FLOAT = 4;

/** Room from the beginning where a model that reckons by distance names no length: what T5 was trained on. */
const USUAL_LENGTH = 512;

/** Every row has keys and values of its tokens, and of the text, and the states that those of the text come from. */
function footprintOf(empty: Record<string, Tensor>, config: Json) {
  const { self, cross } = bytesPerToken(empty);
  const states = (firstNumber(partOf(config, 'encoder'), 'd_model', 'hidden_size') ?? 0) * FLOAT;
  const longest = contextLengthOf(partOf(config, 'decoder')) ?? USUAL_LENGTH;
  return (length: number, { rows, tokens }: Need): Footprint => ({
    ...{ rows, tokens: Math.min(tokens, longest) },
    ...{ perToken: self, fixed: length * (cross + states) },
  });
}
