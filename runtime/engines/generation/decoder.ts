import { join } from 'node:path';
import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { RunError } from '../../core/errors.js';
import type { LoadRequest } from '../handle.js';
import { firstNumber, type Json } from '../model-folder.js';
import { integers, openSession, shapeOf, toFloat32, typeOf } from '../session.js';

/** Keys and values of all tokens seen, one tensor per cache input, and how many tokens that is. */
interface Cache {
  tensors: Record<string, Tensor>;
  length: number;
}

/** The running state of one generation: rows of equal length that share a cache. One row at first. */
export interface Decoding {
  /** Feeds each row its next tokens. Gives the scores after the last one, a fresh array per row. */
  step(rows: number[][]): Promise<Float32Array[]>;
  /** Makes row i continue what row `from[i]` has seen. There may be more or fewer rows than before. */
  reorder(from: number[]): void;
  /** Frees what the rows hold. Called exactly once, whatever ended the generation; no step is made after it. */
  end(): void;
}

/** What a generation may come to need. */
export interface Need {
  /** Most rows at a time. */
  rows: number;
  /** Longest sequence in tokens, prompt included; may be Infinity. */
  tokens: number;
  signal: AbortSignal;
}

export interface Decoder {
  /**
   * Starts one row with an empty cache.
   * @throws RunError 503 when there is no room for what it needs
   */
  start(need: Need): Promise<Decoding>;
  readonly inputNames: readonly string[];
  /** Most tokens to feed in one step, so that one step's scores stay within bounds. */
  readonly chunk: number;
}

/** Most bytes of scores that one step may give: a long prompt times a large vocabulary would be gigabytes. */
const SCORE_BYTES = 64 * 2 ** 20;

/** Opens the graph `model` of a decoder-only language model with a key-value cache. */
export async function openDecoder(request: LoadRequest, config: Json): Promise<Decoder> {
  const session = await openSession(join(request.dir, request.spec.graphs['model']!), request);
  const cacheInputs = session.inputNames.filter((name) => name.startsWith('past_key_values.'));
  checkInputs(session, cacheInputs);
  const shapes = Object.fromEntries(cacheInputs.map((name) => [name, cacheShape(session, name, config)]));
  const vocabulary = firstNumber((config['text_config'] ?? config) as Json, 'vocab_size') ?? 2 ** 15;
  // A merged graph's cached branch was traced with one token at a time, and takes a whole prompt only at first.
  const merged = session.inputNames.includes('use_cache_branch');
  return {
    inputNames: session.inputNames,
    chunk: merged ? Infinity : Math.max(16, Math.min(512, Math.floor(SCORE_BYTES / 4 / vocabulary))),
    start: async () => startDecoding(session, emptyCache(session, shapes)),
  };
}

const KNOWN_INPUTS = new Set([
  ...['input_ids', 'attention_mask', 'position_ids', 'use_cache_branch'],
  ...['num_logits_to_keep', 'logits_to_keep'],
]);

function checkInputs(session: InferenceSession, cacheInputs: string[]): void {
  const odd = session.inputNames.filter((name) => !KNOWN_INPUTS.has(name) && !cacheInputs.includes(name));
  if (odd.length > 0) {
    throw new RunError('not_ready', `the graph wants inputs that a text can't give: ${odd.join(', ')}`);
  }
  if (cacheInputs.length === 0 || !session.outputNames.includes('logits')) {
    throw new RunError(
      'not_ready',
      'the graph has no key-value cache; export it with "text-generation-with-past"',
    );
  }
}

/** [heads, width] of a cache input [batch, heads, past, width], from the graph or else from config.json. */
function cacheShape(session: InferenceSession, name: string, config: Json): [number, number] {
  const shape = shapeOf(session, name);
  if (shape.length !== 4)
    throw new RunError('not_ready', `cache input ${name} has ${shape.length} axes, not 4`);
  const text = (config['text_config'] ?? config) as Json;
  const heads = firstNumber(text, 'num_attention_heads', 'n_head', 'num_heads') ?? 0;
  const hidden = firstNumber(text, 'hidden_size', 'n_embd', 'd_model') ?? 0;
  const asNumber = (value: number | string | undefined, otherwise: number) =>
    typeof value === 'number' && value > 0 ? value : otherwise;
  return [
    asNumber(shape[1], firstNumber(text, 'num_key_value_heads') ?? heads),
    asNumber(shape[3], firstNumber(text, 'head_dim') ?? hidden / heads),
  ];
}

/** A cache of one row that has seen nothing. */
function emptyCache(session: InferenceSession, shapes: Record<string, [number, number]>): Cache {
  const tensors = Object.entries(shapes).map(([name, [heads, width]]) => {
    const type = typeOf(session, name) === 'float16' ? 'float16' : 'float32';
    const data = type === 'float16' ? new Uint16Array(0) : new Float32Array(0);
    return [name, new ort.Tensor(type, data as Float32Array, [1, heads, 0, width])];
  });
  return { tensors: Object.fromEntries(tensors) as Record<string, Tensor>, length: 0 };
}

function startDecoding(session: InferenceSession, cache: Cache): Decoding {
  return {
    async step(rows) {
      const outputs = await session.run({ ...tokenFeeds(session, rows, cache.length), ...cache.tensors });
      for (const name of Object.keys(cache.tensors)) {
        cache.tensors[name] = outputs[name.replace('past_key_values', 'present')]!;
      }
      cache.length += rows[0]!.length;
      return lastScores(outputs['logits']!);
    },
    reorder(from) {
      const rows = Object.values(cache.tensors)[0]!.dims[0];
      if (from.length === rows && from.every((source, i) => source === i)) return;
      for (const [name, tensor] of Object.entries(cache.tensors))
        cache.tensors[name] = gatherRows(tensor, from);
    },
    end() {
      cache.tensors = {};
    },
  };
}

function tokenFeeds(session: InferenceSession, rows: number[][], past: number): Record<string, Tensor> {
  const [batch, length] = [rows.length, rows[0]!.length];
  const total = past + length;
  const values: Record<string, () => Tensor> = {
    input_ids: () => integers(session, 'input_ids', rows.flat(), [batch, length]),
    attention_mask: () =>
      integers(session, 'attention_mask', new Array<number>(batch * total).fill(1), [batch, total]),
    position_ids: () => {
      const positions = rows.flatMap((row) => row.map((_, i) => past + i));
      return integers(session, 'position_ids', positions, [batch, length]);
    },
    use_cache_branch: () => new ort.Tensor('bool', [past > 0], [1]),
    num_logits_to_keep: () => integers(session, 'num_logits_to_keep', [1], []),
    logits_to_keep: () => integers(session, 'logits_to_keep', [1], []),
  };
  const wanted = session.inputNames.filter((name) => name in values);
  return Object.fromEntries(wanted.map((name) => [name, values[name]!()]));
}

/** Scores [batch, tokens, vocabulary] after the last token, one array per row. */
function lastScores(logits: Tensor): Float32Array[] {
  const [batch, tokens, vocabulary] = logits.dims as [number, number, number];
  const values = toFloat32(logits);
  return Array.from({ length: batch }, (_, row) => {
    const start = ((row + 1) * tokens - 1) * vocabulary;
    return values.slice(start, start + vocabulary);
  });
}

function gatherRows(tensor: Tensor, from: number[]): Tensor {
  const [, ...rest] = tensor.dims;
  const size = rest.reduce((a, b) => a * b, 1);
  const source = tensor.data as Float32Array;
  const target = new (source.constructor as typeof Float32Array)(from.length * size);
  from.forEach((row, i) => target.set(source.subarray(row * size, (row + 1) * size), i * size));
  return new ort.Tensor(tensor.type as 'float32', target, [from.length, ...rest]);
}
