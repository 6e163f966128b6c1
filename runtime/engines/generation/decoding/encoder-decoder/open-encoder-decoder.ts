import { join } from 'node:path';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { RunError } from '../../../../core/errors.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { openSession } from '../../../sessions/session.js';
import { contextLengthOf, encoderPositions, partOf } from '../../../repository/sequence-lengths.js';
import { createCacheBudget } from '../cache/cache-budget.js';
import { bytesPerToken, CACHE_INPUT, emptyCache, presentOf } from './cross-cache.js';
import { type DecoderGraphs, startDecoding } from './cross-decoding.js';
import { checkPrompt, decoderMemory } from '../cache/decoder-memory.js';
import type { Decoding, Need } from '../decoder.js';
import { encode, leastTokens } from './text-encoder.js';
import { type Footprint, startReserved } from '../cache/reservation.js';

export interface EncoderDecoder {
  /**
   * Encodes a text and starts one row that has seen nothing but it.
   * @throws RunError 503 when there is no room for what it needs, 422 when there never will be
   */
  start(source: readonly number[], need: Need): Promise<Decoding>;
}

/** Opens encoder and decoder of a sequence-to-sequence model, the decoder merged or as a pair. */
export async function openEncoderDecoder(request: LoadRequest, config: Json): Promise<EncoderDecoder> {
  const open = (role: string) =>
    openSession(join(request.dir, request.spec.graphs[role]!), { ...request, arena: true });
  const merged = 'decoder_model_merged' in request.spec.graphs;
  const [encoder, first, second] = await Promise.all([
    open('encoder_model'),
    open(merged ? 'decoder_model_merged' : 'decoder_model'),
    merged ? undefined : open('decoder_with_past_model'),
  ]);
  const graphs = { first, next: second ?? first };
  checkGraphs(encoder, graphs);
  const empty = emptyCache(first, config);
  const least = leastTokens(config);
  const { self, cross } = bytesPerToken(empty);
  const memory = decoderMemory(request, {
    config: partOf(config, 'encoder'),
    contextLength: encoderPositions(config),
    ...{ perToken: self + cross, chunk: Infinity },
  });
  const budget = createCacheBudget(memory.cacheBytes, memory.cacheLimit);
  const footprint = footprintOf(empty, config);
  return {
    async start(source, need) {
      checkPrompt(memory, source.length);
      return startReserved(budget, { ...footprint(source.length, need), need }, async () =>
        startDecoding(graphs, { empty, ...(await encode(encoder, source, least)) }),
      );
    },
  };
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

const ENCODER_INPUTS = ['input_ids', 'attention_mask'];
const DECODER_INPUTS = ['input_ids', 'encoder_attention_mask', 'encoder_hidden_states', 'use_cache_branch'];

function checkGraphs(encoder: InferenceSession, { first, next }: DecoderGraphs): void {
  const odd = [
    ...encoder.inputNames.filter((name) => !ENCODER_INPUTS.includes(name)),
    ...[first, next].flatMap((session) =>
      session.inputNames.filter((name) => !DECODER_INPUTS.includes(name) && !CACHE_INPUT.test(name)),
    ),
  ];
  if (odd.length > 0) {
    throw new RunError('not_ready', `the graphs want inputs that a text can't give: ${odd.join(', ')}`);
  }
  const cached = next.inputNames.filter((name) => CACHE_INPUT.test(name));
  const missing = cached.map(presentOf).filter((name) => !first.outputNames.includes(name));
  if (cached.length === 0 || missing.length > 0 || !first.outputNames.includes('logits')) {
    throw new RunError(
      'not_ready',
      'the decoder has no key-value cache; export it with "text2text-generation-with-past"',
    );
  }
}
