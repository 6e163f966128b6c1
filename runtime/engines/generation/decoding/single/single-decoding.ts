import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { integers } from '../../../sessions/tensors.js';
import { type CacheInput, emptyCacheTensors } from './cache-inputs.js';
import type { Decoding } from '../decoder.js';
import { gatherRows, lastScores } from '../gather-rows.js';
import { type ForkableDecoding, decodeRowByRow, hasSingleRow } from '../row-by-row.js';

export interface SingleGraph {
  session: InferenceSession;
  caches: readonly CacheInput[];
  /** A text that grows beyond this many tokens is computed again from its beginning; Infinity where none is. */
  ropeSwitchLength: number;
}

/** Rows that share a run: their tokens, equally many, and their caches. Never changed in place. */
interface Rows {
  tokens: number[][];
  tensors: Record<string, Tensor>;
}

export interface PrefillOptions {
  /** Most tokens of a prompt in one run, so that others run in between and a cancel takes effect. */
  chunk: number;
  signal: AbortSignal;
}

/** Starts one row with an empty cache. */
export function startSingleDecoding(graph: SingleGraph, prefill: PrefillOptions): Decoding {
  const rows = decodingOf({ graph, prefill }, { tokens: [[]], tensors: emptyCacheTensors(graph.caches, 1) });
  return hasSingleRow(graph.session) ? decodeRowByRow(rows) : rows;
}

function decodingOf(given: { graph: SingleGraph; prefill: PrefillOptions }, initial: Rows): ForkableDecoding {
  const { graph, prefill } = given;
  let rows = initial;

  async function feed(newTokens: readonly (readonly number[])[]): Promise<Float32Array[]> {
    const { outputs, tokens } = await advance(graph, rows, newTokens);
    const tensors = graph.caches.map(({ name, present }) => [name, outputs[present]!] as const);
    rows = { tokens, tensors: Object.fromEntries(tensors) };
    return lastScores(outputs['logits']!);
  }

  return {
    async prefill({ tokens }) {
      let scores: Float32Array[] = [];
      for (let at = 0; at < tokens.length; at += prefill.chunk) {
        prefill.signal.throwIfAborted();
        scores = await feed([tokens.slice(at, at + prefill.chunk)]);
      }
      return scores[0]!;
    },
    step: (tokens) => feed(tokens.map((token) => [token])),
    reorder(from) {
      rows = gatherAll(rows, from);
    },
    fork: () => decodingOf(given, rows),
    end() {
      rows = { tokens: [], tensors: {} };
    },
  };
}

async function advance(
  { session, caches, ropeSwitchLength }: SingleGraph,
  rows: Rows,
  newTokens: readonly (readonly number[])[],
) {
  const past = rows.tokens[0]!.length;
  const tokens = rows.tokens.map((row, i) => row.concat(newTokens[i]!));
  const again = past > 0 && past <= ropeSwitchLength && tokens[0]!.length > ropeSwitchLength;
  const feeds = again
    ? { ...tokenFeeds(session, tokens, 0), ...emptyCacheTensors(caches, tokens.length) }
    : { ...tokenFeeds(session, newTokens, past), ...rows.tensors };
  return { outputs: await session.run(feeds), tokens };
}

function gatherAll(rows: Rows, from: readonly number[]): Rows {
  if (from.length === rows.tokens.length && from.every((source, i) => source === i)) return rows;
  const tensors = Object.entries(rows.tensors).map(
    ([name, tensor]) => [name, gatherRows(tensor, from)] as const,
  );
  return { tokens: from.map((source) => rows.tokens[source]!), tensors: Object.fromEntries(tensors) };
}

function tokenFeeds(
  session: InferenceSession,
  rows: readonly (readonly number[])[],
  past: number,
): Record<string, Tensor> {
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
