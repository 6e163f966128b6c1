import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { integers } from '../../../sessions/tensors.js';
import { type CacheLayout, cacheTensor, type SequenceCache } from '../cache/kv-cache.js';
import { type Elements, elementsOf } from '../../../sessions/elements.js';
import { SLOTS_INPUT } from '../graph/decoder-graph.js';
import { lastScores } from '../gather-rows.js';
import type { KvRows } from '../cache/batch-cache.js';

/** What a run of the changed graph gives. */
export interface StepOutput {
  /** Scores after the last token, one array per row: views, which the caller may change. */
  scores: Float32Array[];
  /** Keys and values of the new tokens, [rows, heads, tokens, width] per port. */
  fresh: Elements[];
}

/** A decoder's session whose cache outputs hold new tokens only (decoder-graph.ts). */
export interface StepSession {
  readonly layout: CacheLayout;
  /** Feeds tokens to one sequence; its cache stays as it is. */
  prefill(tokens: readonly number[], cache: SequenceCache): Promise<StepOutput>;
  /** Feeds one token to each row of the batch; the rows stay as they are. */
  step(tokens: readonly number[], batch: KvRows): Promise<StepOutput>;
}

export function createStepSession(session: InferenceSession, layout: CacheLayout): StepSession {
  // Attention that writes into the cache takes the mask's width for the longest text, which its table of positions ends.
  const slots = session.inputNames.includes(SLOTS_INPUT);

  async function run(feeds: Record<string, Tensor>): Promise<StepOutput> {
    const outputs = await session.run(feeds);
    return {
      scores: lastScores(outputs['logits']!),
      fresh: layout.ports.map(({ present }) => elementsOf(outputs[present]!)),
    };
  }

  return {
    layout,
    prefill(tokens, cache) {
      const [past, count] = [cache.length, tokens.length];
      const places = tokens.map((_, i) => past + i);
      const tensors = layout.ports.map((port, i) => [
        port.past,
        cacheTensor(layout.type, cache.data[i]!, [1, port.heads, past, port.width]),
      ]);
      const feeds = inputsOf(session, {
        ...{ tokens, places, rows: 1 },
        mask: new BigInt64Array(past + count).fill(1n),
      });
      return run({ ...feeds, ...(Object.fromEntries(tensors) as Record<string, Tensor>) });
    },
    step(tokens, batch) {
      const places = batch.rows.map(({ length }) => length);
      const mask = maskOf(batch, slots ? Math.max(...places) : batch.capacity);
      const feeds = inputsOf(session, { tokens, places, rows: tokens.length, mask });
      return run({ ...feeds, ...batch.feeds() });
    },
  };
}

/** Each row: its own tokens, unused places up to so many, and the new token at the end. */
function maskOf({ rows }: KvRows, places: number): BigInt64Array {
  const width = places + 1;
  const mask = new BigInt64Array(rows.length * width);
  for (const { index, length } of rows) {
    mask.fill(1n, index * width, index * width + length);
    mask[index * width + places] = 1n;
  }
  return mask;
}

interface Inputs {
  /** Row after row. */
  tokens: readonly number[];
  /** Position of each token in its sequence. */
  places: readonly number[];
  rows: number;
  mask: BigInt64Array;
}

function inputsOf(session: InferenceSession, { tokens, places, rows, mask }: Inputs): Record<string, Tensor> {
  const count = tokens.length / rows;
  const values: Record<string, () => Tensor> = {
    input_ids: () => integers(session, 'input_ids', [...tokens], [rows, count]),
    attention_mask: () => integers(session, 'attention_mask', mask, [rows, mask.length / rows]),
    position_ids: () => integers(session, 'position_ids', [...places], [rows, count]),
    num_logits_to_keep: () => integers(session, 'num_logits_to_keep', [1], []),
    logits_to_keep: () => integers(session, 'logits_to_keep', [1], []),
    [SLOTS_INPUT]: () => new ort.Tensor('int64', BigInt64Array.from(places, BigInt), [rows, 1, count, 1]),
  };
  const wanted = session.inputNames.filter((name) => name in values);
  return Object.fromEntries(wanted.map((name) => [name, values[name]!()]));
}
