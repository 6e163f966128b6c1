import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { RunError } from '../../core/errors.js';
import type { LoadRequest } from '../../core/load-request.js';
import {
  CACHE_INPUT,
  crossCacheBytesPerToken,
  emptyCrossCache,
  isCrossAttention,
  presentName,
} from '../generation/decoding/encoder-decoder/cross-cache.js';
import type { Json } from '../repository/model-folder.js';
import { graphSource } from '../sessions/graph-source.js';
import { openSession } from '../sessions/session.js';

type Feeds = Readonly<Record<string, Tensor>>;

/** Runs the next step. @param names outputs to give beside the cache, which stays here */
export type Step = (feeds: Feeds, names: readonly string[]) => Promise<Feeds>;

/** A decoder that attends to an encoder's states and keeps a cache: one merged graph, or a pair. */
export interface CachedDecoder {
  /** Bytes of cache per step and row (`self`), and per state of the source (`cross`). */
  bytes: { self: number; cross: number };
  /** Whether its graphs have an input. */
  takes(input: string): boolean;
  /** Begins with an empty cache. */
  start(): Step;
}

export interface DecoderPorts {
  /** Inputs that steps fill, beside the cache. */
  inputs: readonly string[];
  outputs: readonly string[];
}

const MERGED = 'decoder_model_merged';
const BRANCH = 'use_cache_branch';

/**
 * @param config of the decoder, for sizes of the cache that the graph leaves open
 * @throws RunError `not_ready` for graphs with other inputs, or without a cache or one of the outputs
 */
export async function openCachedDecoder(
  request: LoadRequest,
  config: Json,
  ports: DecoderPorts,
): Promise<CachedDecoder> {
  const open = (role: string) => openSession(graphSource(request, role), { ...request, arena: true });
  const merged = MERGED in request.spec.graphs;
  const [first, other] = await Promise.all([
    open(merged ? MERGED : 'decoder_model'),
    merged ? undefined : open('decoder_with_past_model'),
  ]);
  const next = other ?? first;
  for (const session of [first, next]) check(session, ports);
  if (!next.inputNames.some((name) => CACHE_INPUT.test(name)))
    throw new RunError('not_ready', 'the decoder has no key-value cache; export it with its past');
  const empty = emptyCrossCache(first, config);
  return {
    bytes: crossCacheBytesPerToken(emptyCrossCache(next, config)),
    takes: (input) => first.inputNames.includes(input),
    start: () => startSteps({ first, next }, empty),
  };
}

function check(session: InferenceSession, { inputs, outputs }: DecoderPorts): void {
  const unknown = session.inputNames.filter(
    (name) => !inputs.includes(name) && name !== BRANCH && !CACHE_INPUT.test(name),
  );
  if (unknown.length > 0)
    throw new RunError('not_ready', `the decoder wants inputs that are not known: ${unknown.join(', ')}`);
  const missing = outputs.filter((name) => !session.outputNames.includes(name));
  if (missing.length > 0) throw new RunError('not_ready', `the decoder gives no ${missing.join(' and no ')}`);
}

/** Keys and values of the source are taken from the first step: later ones of a merged graph are dummies. */
function startSteps(
  { first, next }: { first: InferenceSession; next: InferenceSession },
  empty: Record<string, Tensor>,
): Step {
  let cache: Record<string, Tensor> | undefined;
  const inputs = next.inputNames.filter((name) => CACHE_INPUT.test(name));
  const growing = inputs.filter((name) => !isCrossAttention(name));
  return async (feeds, names) => {
    const session = cache ? next : first;
    const kept = cache ? growing : inputs;
    const all: Record<string, Tensor> = {
      ...feeds,
      [BRANCH]: new ort.Tensor('bool', [cache !== undefined], [1]),
    };
    const wanted = session.inputNames.filter((name) => name in all).map((name) => [name, all[name]!]);
    const given = { ...(Object.fromEntries(wanted) as Record<string, Tensor>), ...(cache ?? empty) };
    const outputs = await session.run(given, [...names, ...kept.map(presentName)]);
    cache = { ...cache, ...Object.fromEntries(kept.map((name) => [name, outputs[presentName(name)]!])) };
    return outputs;
  };
}
