import { join } from 'node:path';
import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { RunError } from '../../../core/errors.js';
import type { LoadRequest } from '../../handle.js';
import { firstNumber, type Json } from '../../model-folder.js';
import { integers, openSession } from '../../session.js';
import { contextLengthOf } from '../limits.js';
import { partOf } from '../seq2seq-limits.js';
import { createCacheBudget } from './cache-budget.js';
import { bytesPerToken, CACHE_INPUT, emptyCache, isCross, presentOf } from './cross-cache.js';
import type { Decoding, Need } from './decoder.js';
import { gatherRows, lastScores } from './gather-rows.js';
import { type Footprint, startReserved } from './reserved.js';

export interface EncoderDecoder {
  /**
   * Encodes a text and starts one row that has seen nothing but it.
   * @throws RunError 503 when there is no room for what it needs, 422 when there never will be
   */
  start(source: readonly number[], need: Need): Promise<Decoding>;
}

/** The graphs of one model. In a merged export `first` and `next` are the same session. */
interface Graphs {
  encoder: InferenceSession;
  /** Takes tokens and the encoder's states; makes the cache. */
  first: InferenceSession;
  /** Takes one token and the cache. */
  next: InferenceSession;
}

/** Opens encoder and decoder of a sequence-to-sequence model, the decoder merged or as a pair. */
export async function openEncoderDecoder(request: LoadRequest, config: Json): Promise<EncoderDecoder> {
  const open = (role: string) => openSession(join(request.dir, request.spec.graphs[role]!), request);
  const merged = 'decoder_model_merged' in request.spec.graphs;
  const [encoder, first, second] = await Promise.all([
    open('encoder_model'),
    open(merged ? 'decoder_model_merged' : 'decoder_model'),
    merged ? undefined : open('decoder_with_past_model'),
  ]);
  const graphs: Graphs = { encoder, first, next: second ?? first };
  checkGraphs(graphs);
  const empty = emptyCache(graphs.first, config);
  const least = leastTokens(config);
  const budget = createCacheBudget(request.cacheBytes);
  const footprint = footprintOf(empty, config);
  return {
    start: (source, need) =>
      startReserved(budget, footprint(source.length, need), async () =>
        startDecoding(graphs, { empty, ...(await encode(graphs, source, least)) }),
      ),
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

function checkGraphs({ encoder, first, next }: Graphs): void {
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

/** What the encoder made of a text, one row. */
interface Encoded {
  /** [rows, tokens, width] */
  states: Tensor;
  /** Tokens of the text. */
  length: number;
}

/** LongT5's exports with global attention fail on texts shorter than one block. */
function leastTokens(config: Json): number {
  const global = config['model_type'] === 'longt5' && config['encoder_attention_type'] === 'transient-global';
  return global ? (firstNumber(config, 'global_block_size') ?? 16) : 0;
}

/** @param least shorter texts are filled up with tokens that nothing looks at */
async function encode({ encoder }: Graphs, source: readonly number[], least: number): Promise<Encoded> {
  const { length } = source;
  const filling = new Array<number>(Math.max(0, least - length)).fill(0);
  const dims = [1, length + filling.length];
  const values: Record<string, number[]> = {
    input_ids: [...source, ...filling],
    attention_mask: [...source.map(() => 1), ...filling],
  };
  const feeds = encoder.inputNames.map(
    (name) => [name, integers(encoder, name, values[name]!, dims)] as const,
  );
  const [output] = encoder.outputNames;
  const outputs = await encoder.run(Object.fromEntries(feeds), [output!]);
  return { states: firstTokens(outputs[output!]!, length), length };
}

/** The states [1, tokens, width] of the first tokens. */
function firstTokens(states: Tensor, length: number): Tensor {
  const [, tokens, width] = states.dims as [number, number, number];
  if (tokens === length) return states;
  const data = (states.data as Float32Array).slice(0, length * width);
  return new ort.Tensor(states.type as 'float32', data, [1, length, width]);
}

/**
 * Keys and values of the text (`cross`) are computed in the first step and never fetched again; those of the tokens
 * (`self`) grow with each step.
 */
function startDecoding(graphs: Graphs, encoded: Encoded & { empty: Record<string, Tensor> }): Decoding {
  const { first, next } = graphs;
  let { states } = encoded;
  let cache: Record<string, Tensor> | undefined;
  const inputs = next.inputNames.filter((name) => CACHE_INPUT.test(name));
  const growing = inputs.filter((name) => !isCross(name));

  const shared = (session: InferenceSession, rows: number[][]): Record<string, Tensor> => {
    const all: Record<string, () => Tensor> = {
      input_ids: () => integers(session, 'input_ids', rows.flat(), [rows.length, rows[0]!.length]),
      encoder_attention_mask: () => {
        const ones = new Array<number>(rows.length * encoded.length).fill(1);
        return integers(session, 'encoder_attention_mask', ones, [rows.length, encoded.length]);
      },
      encoder_hidden_states: () => states,
      use_cache_branch: () => new ort.Tensor('bool', [cache !== undefined], [1]),
    };
    const wanted = session.inputNames.filter((name) => name in all);
    return Object.fromEntries(wanted.map((name) => [name, all[name]!()]));
  };

  return {
    async step(rows) {
      const session = cache ? next : first;
      const kept = cache ? growing : inputs;
      const feeds = { ...shared(session, rows), ...(cache ?? encoded.empty) };
      const outputs = await session.run(feeds, ['logits', ...kept.map(presentOf)]);
      const fresh = Object.fromEntries(kept.map((name) => [name, outputs[presentOf(name)]!]));
      cache = { ...cache, ...fresh };
      return lastScores(outputs['logits']!);
    },
    reorder(from) {
      const before = states.dims[0];
      if (from.length === before && from.every((source, i) => source === i)) return;
      // All rows read the same text: what comes from it changes with their number only.
      const sameText = from.length === before;
      if (!sameText) states = gatherRows(states, from);
      for (const [name, tensor] of Object.entries(cache ?? {})) {
        if (!sameText || !isCross(name)) cache![name] = gatherRows(tensor, from);
      }
    },
    end() {
      cache = undefined;
    },
  };
}
