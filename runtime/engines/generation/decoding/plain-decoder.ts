import { join } from 'node:path';
import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { RunError } from '../../../core/errors.js';
import type { LoadRequest } from '../../handle.js';
import type { Decoder, Decoding } from './decoder.js';
import type { Json } from '../../model-folder.js';
import { cacheShape, promptChunk } from './cache-shape.js';
import { integers, openSession, shapeOf, typeOf } from '../../session.js';
import { contextLengthOf } from '../limits.js';
import { gatherRows, lastScores } from './gather-rows.js';

/** Keys and values of all tokens seen, one tensor per cache input, and how many tokens that is. */
interface Cache {
  tensors: Record<string, Tensor>;
  length: number;
}

export interface PlainDecoder extends Decoder {
  /** Bytes of cache that a token takes. */
  bytesPerToken: number;
  /** Longest sequence that the model was made for. */
  contextLength: number | undefined;
}

/**
 * Opens the graph as it is: each generation runs by itself, and all of its cache comes out of the graph and goes back in
 * with each step. For graphs that batches can't be made of (openDecoder).
 */
export async function openPlainDecoder(request: LoadRequest, config: Json): Promise<PlainDecoder> {
  const session = await openSession(join(request.dir, request.spec.graphs['model']!), request);
  const cacheInputs = session.inputNames.filter((name) => name.startsWith('past_key_values.'));
  checkInputs(session, cacheInputs);
  const shapes = Object.fromEntries(
    cacheInputs.map((name) => [name, cacheShape({ name, shape: shapeOf(session, name) }, config)]),
  );
  // A merged graph's cached branch was traced with one token at a time, and takes a whole prompt only at first.
  const merged = session.inputNames.includes('use_cache_branch');
  const bytesPerToken = Object.entries(shapes).reduce(
    (sum, [name, [heads, width]]) => sum + heads * width * (typeOf(session, name) === 'float16' ? 2 : 4),
    0,
  );
  return {
    bytesPerToken,
    contextLength: contextLengthOf(config),
    inputNames: session.inputNames,
    shares: false,
    chunk: merged ? Infinity : promptChunk(config),
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
      integers(session, 'attention_mask', new BigInt64Array(batch * total).fill(1n), [batch, total]),
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
