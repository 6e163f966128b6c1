import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { integers } from '../../../sessions/tensors.js';
import { type CacheLayout, cacheTensor, type SequenceCache } from '../cache/kv-cache.js';
import { type Elements, elementsOf } from '../../../sessions/elements.js';
import { SLOTS_INPUT } from '../graph/decoder-graph.js';
import { lastScores } from '../gather-rows.js';
import type { BatchCache } from '../cache/batch-cache.js';

/** What a run of the changed graph gives. */
export interface StepOutput {
  /** Scores after the last token, one array per row: views, which the caller may change. */
  scores: Float32Array[];
  /** Keys and values of the new tokens, [rows, heads, tokens, width] per port. */
  newEntries: Elements[];
}

/** A decoder's session whose cache outputs hold new tokens only (decoder-graph.ts). */
export interface StepSession {
  readonly layout: CacheLayout;
  /** Feeds tokens to one sequence; its cache stays as it is. */
  prefill(tokens: readonly number[], cache: SequenceCache): Promise<StepOutput>;
  /** Feeds one token to each row of the batch; the rows stay as they are. */
  step(tokens: readonly number[], batch: BatchCache): Promise<StepOutput>;
}

export function createStepSession(session: InferenceSession, layout: CacheLayout): StepSession {
  // Attention that updates the cache in place takes the mask's width for the length of the longest text, which must stay
  // within its table of positions.
  const inPlace = session.inputNames.includes(SLOTS_INPUT);

  async function run(feeds: Record<string, Tensor>): Promise<StepOutput> {
    const outputs = await session.run(feeds);
    return {
      scores: lastScores(outputs['logits']!),
      newEntries: layout.ports.map(({ present }) => elementsOf(outputs[present]!)),
    };
  }

  return {
    layout,
    prefill(tokens, cache) {
      const [past, count] = [cache.length, tokens.length];
      const positions = tokens.map((_, i) => past + i);
      const tensors = layout.ports.map((port, i) => [
        port.past,
        cacheTensor(layout.type, cache.data[i]!, [1, port.heads, past, port.width]),
      ]);
      const feeds = inputsOf(session, {
        ...{ tokens, positions, rows: 1 },
        mask: new BigInt64Array(past + count).fill(1n),
      });
      return run({ ...feeds, ...(Object.fromEntries(tensors) as Record<string, Tensor>) });
    },
    step(tokens, batch) {
      const positions = batch.rows.map(({ length }) => length);
      const mask = maskOf(batch, inPlace ? Math.max(...positions) : batch.capacity);
      const feeds = inputsOf(session, { tokens, positions, rows: tokens.length, mask });
      return run({ ...feeds, ...batch.feeds() });
    },
  };
}

/** For each row: its tokens, padding, and the new token at the end. */
function maskOf({ rows }: BatchCache, capacity: number): BigInt64Array {
  const width = capacity + 1;
  const mask = new BigInt64Array(rows.length * width);
  for (const { index, length } of rows) {
    mask.fill(1n, index * width, index * width + length);
    mask[index * width + capacity] = 1n;
  }
  return mask;
}

interface Inputs {
  /** Row after row. */
  tokens: readonly number[];
  /** Position of each token in its sequence. */
  positions: readonly number[];
  rows: number;
  mask: BigInt64Array;
}

function inputsOf(
  session: InferenceSession,
  { tokens, positions, rows, mask }: Inputs,
): Record<string, Tensor> {
  const count = tokens.length / rows;
  const values: Record<string, () => Tensor> = {
    input_ids: () => integers(session, 'input_ids', [...tokens], [rows, count]),
    attention_mask: () => integers(session, 'attention_mask', mask, [rows, mask.length / rows]),
    position_ids: () => integers(session, 'position_ids', [...positions], [rows, count]),
    num_logits_to_keep: () => integers(session, 'num_logits_to_keep', [1], []),
    logits_to_keep: () => integers(session, 'logits_to_keep', [1], []),
    [SLOTS_INPUT]: () => new ort.Tensor('int64', BigInt64Array.from(positions, BigInt), [rows, 1, count, 1]),
  };
  const wanted = session.inputNames.filter((name) => name in values);
  return Object.fromEntries(wanted.map((name) => [name, values[name]!()]));
}
