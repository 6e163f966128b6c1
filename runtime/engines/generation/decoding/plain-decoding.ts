import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { integers, shapeOf } from '../../session.js';
import { type CacheInput, emptyCaches } from './cache-inputs.js';
import type { Decoding } from './decoder.js';
import { gatherRows, lastScores } from './gather-rows.js';

export interface PlainGraph {
  session: InferenceSession;
  caches: readonly CacheInput[];
  /** Texts with more tokens than this are read in another way from their beginning; Infinity where none are. */
  switchesAfter: number;
}

/** Rows that share a run: what they have seen, equally long, and what the graph keeps of it. A step replaces both. */
interface Rows {
  seen: number[][];
  tensors: Record<string, Tensor>;
}

/** One row that has seen nothing. */
export function startPlainDecoding(graph: PlainGraph): Decoding {
  const alone = shapeOf(graph.session, 'input_ids')[0] === 1;
  // A graph made for one row gets its rows one after the other.
  let groups: Rows[] = [{ seen: [[]], tensors: emptyCaches(graph.caches, 1) }];
  return {
    async step(rows) {
      const scores: Float32Array[] = [];
      for (const group of groups) {
        const own = rows.slice(scores.length, scores.length + group.seen.length);
        scores.push(...(await advance(graph, group, own)));
      }
      return scores;
    },
    reorder(from) {
      groups = alone ? from.map((source) => ({ ...groups[source]! })) : [gathered(groups[0]!, from)];
    },
    end() {
      groups = [];
    },
  };
}

async function advance(graph: PlainGraph, group: Rows, rows: number[][]): Promise<Float32Array[]> {
  const past = group.seen[0]!.length;
  group.seen = group.seen.map((seen, i) => seen.concat(rows[i]!));
  const anew = past > 0 && past <= graph.switchesAfter && group.seen[0]!.length > graph.switchesAfter;
  const tensors = anew ? emptyCaches(graph.caches, rows.length) : group.tensors;
  const feeds = anew ? tokenFeeds(graph.session, group.seen, 0) : tokenFeeds(graph.session, rows, past);
  const outputs = await graph.session.run({ ...feeds, ...tensors });
  group.tensors = Object.fromEntries(graph.caches.map(({ name, present }) => [name, outputs[present]!]));
  return lastScores(outputs['logits']!);
}

function gathered(rows: Rows, from: readonly number[]): Rows {
  if (from.length === rows.seen.length && from.every((source, i) => source === i)) return rows;
  const tensors = Object.entries(rows.tensors).map(
    ([name, tensor]) => [name, gatherRows(tensor, from)] as const,
  );
  return { seen: from.map((source) => rows.seen[source]!), tensors: Object.fromEntries(tensors) };
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
