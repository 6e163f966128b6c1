import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { integers } from '../../../sessions/tensors.js';
import {
  type CacheLayout,
  type CachePort,
  cacheTensor,
  type FedTokens,
  type KeysValues,
  type SequenceCache,
} from '../cache/kv-cache.js';
import { elementsOf } from '../../../sessions/elements.js';
import { SLOTS_INPUT } from '../graph/decoder-graph.js';
import { LAST_ONLY, SCORES_INPUT } from '../graph/chosen-scores.js';
import { lastScores, scoresOfTokens } from '../gather-rows.js';
import type { BatchCache } from '../cache/batch-cache.js';
import { embedPrompt, type TokenEmbedder } from '../embeddings/token-embedder.js';
import { positionAxes, positionTensor } from '../position-input.js';
import {
  ATTENTION_OUTPUT,
  GROUPS_INPUT,
  HEADS_INPUT,
  IMAGES_INPUT,
  imagesMask,
  positionsOf,
  type Prompt,
} from '../prompt.js';

/** What a run of the changed graph gives. */
export interface StepOutput extends FedTokens {
  /** Scores after the last token, one array per row: views, which the caller may change. */
  scores: Float32Array[];
  /** Scores after each of the fed tokens that the graph gives them of; of one row. */
  all?: Float32Array[] | undefined;
  /** What the prompt asks of heads, [chosen, tokens, length]. */
  attention?: Float32Array | undefined;
}

/** The next token of each row. */
export interface StepTokens {
  ids: readonly number[];
  /** [rows, 1, width], where the session embeds. */
  embedded?: Tensor | undefined;
}

/** A decoder's session whose cache outputs hold new tokens only (decoder-graph.ts). */
export interface StepSession {
  readonly layout: CacheLayout;
  /**
   * Feeds the next tokens of a prompt, after those of the cache, which stays as it is.
   * @param wantsAll scores of all of them, where the graph can give them
   */
  prefill(prompt: Prompt, count: number, cache: SequenceCache, wantsAll?: boolean): Promise<StepOutput>;
  /** What a step takes of tokens, [tokens, 1, width]. Absent where it takes the tokens. */
  readonly embed: ((tokens: readonly number[]) => Promise<Tensor>) | undefined;
  /** Feeds one token to each row of the batch, which is read before this returns; the rows stay as they are. */
  step(tokens: StepTokens, batch: BatchCache): Promise<StepOutput>;
}

/** @param embedder for a graph that takes embeddings */
export function createStepSession(
  session: InferenceSession,
  layout: CacheLayout,
  embedder?: TokenEmbedder,
): StepSession {
  const axes = positionAxes(session);
  // Attention that updates the cache in place takes the mask's width for the length of the longest text, which must stay
  // within its table of positions.
  const inPlace = session.inputNames.includes(SLOTS_INPUT);

  async function run(feeds: Record<string, Tensor>, tokens: number, wantsAll = false): Promise<StepOutput> {
    const outputs = await session.run(feeds);
    const given = ({ present }: { present: string }) => elementsOf(outputs[present]!);
    return {
      ...{ tokens, scores: lastScores(outputs['logits']!) },
      ...(wantsAll && { all: scoresOfTokens(outputs['logits']!) }),
      attention: outputs[ATTENTION_OUTPUT]?.data as Float32Array | undefined,
      newEntries: layout.ports.map(given),
      newStates: (layout.states ?? []).map(given),
    };
  }

  return {
    layout,
    async prefill(prompt, count, cache, wantsAll = false) {
      const past = cache.length;
      const rows = [prompt.tokens.slice(past, past + count)];
      const feeds = inputsOf(session, {
        tokens: rows,
        embedded: embedder && (await embedPrompt(embedder, prompt, { from: past, rows })),
        positions: [positionsOf(prompt, { from: past, count, axes })],
        slots: Array.from({ length: count }, (_, i) => past + i),
        groups: Array.from({ length: count }, (_, i) => prompt.groups?.[past + i] ?? 0),
        mask: new BigInt64Array(past + count).fill(1n),
        sourceMask: prompt.images
          ? imagesMask(prompt.images, past, count)
          : new BigInt64Array(cache.source?.length ?? 0).fill(1n),
        heads: prompt.attention?.heads,
        scored: wantsAll ? count : undefined,
      });
      return run({ ...feeds, ...cacheFeeds(layout, cache) }, count, wantsAll);
    },
    embed: embedder && ((tokens) => embedder.embed(tokens.map((token) => [token]))),
    step({ ids, embedded }, batch) {
      const slots = batch.rows.map(({ length }) => length);
      const mask = maskOf(batch, inPlace ? Math.max(...slots) : batch.capacity);
      const sourceMask = sourceMaskOf(batch);
      const tokens = ids.map((token) => [token]);
      const positions = batch.rows.map(({ length, shift }) =>
        Array.from({ length: axes }, () => [length + shift]),
      );
      const groups = ids.map(() => 0);
      const feeds = inputsOf(session, { tokens, embedded, positions, slots, groups, mask, sourceMask });
      return run({ ...feeds, ...batch.feeds() }, 1);
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

/** For each row its source, and padding. */
function sourceMaskOf({ rows, sourceCapacity: width }: BatchCache): BigInt64Array {
  const mask = new BigInt64Array(rows.length * width);
  for (const { index, sourceLength } of rows) mask.fill(1n, index * width, index * width + sourceLength);
  return mask;
}

/** The cache inputs of one sequence. */
function cacheFeeds(
  { ports, source = [], states = [], type }: CacheLayout,
  cache: SequenceCache,
): Record<string, Tensor> {
  const tensors = (of: readonly CachePort[], { length, data }: KeysValues) =>
    of.map(
      ({ past, heads, width }, i) => [past, cacheTensor(type, data[i]!, [1, heads, length, width])] as const,
    );
  return Object.fromEntries([
    ...tensors(ports, cache),
    ...(cache.source ? tensors(source, cache.source) : []),
    ...states.map(({ past, dims }, i) => [past, cacheTensor(type, cache.states[i]!, [1, ...dims])] as const),
  ]);
}

interface Inputs {
  /** Of each row, equally many. */
  tokens: readonly (readonly number[])[];
  /** The same as the decoder takes them, where it takes no tokens. */
  embedded: Tensor | undefined;
  /** For each row the positions on each axis. */
  positions: readonly (readonly (readonly number[])[])[];
  /** Place of each token in its sequence, row after row. */
  slots: readonly number[];
  /** Group of each token, row after row. */
  groups: readonly number[];
  mask: BigInt64Array;
  /** Over the source; over images for each token. */
  sourceMask: BigInt64Array;
  /** What is asked of the heads' attention to the source; nothing if absent. */
  heads?: Uint8Array | undefined;
  /** Of how many tokens scores are wanted, where that is not the last one alone. */
  scored?: number | undefined;
}

const NO_HEADS = new Uint8Array(0);

function inputsOf(
  session: InferenceSession,
  { tokens, embedded, positions, slots, groups, mask, sourceMask, scored, heads = NO_HEADS }: Inputs,
): Record<string, Tensor> {
  const [rows, count] = [tokens.length, tokens[0]!.length];
  const values: Record<string, () => Tensor> = {
    input_ids: () => integers(session, 'input_ids', tokens.flat(), [rows, count]),
    inputs_embeds: () => embedded!,
    attention_mask: () => integers(session, 'attention_mask', mask, [rows, mask.length / rows]),
    encoder_attention_mask: () =>
      integers(session, 'encoder_attention_mask', sourceMask, [rows, sourceMask.length / rows]),
    [IMAGES_INPUT]: () =>
      integers(session, IMAGES_INPUT, sourceMask, [rows, count, sourceMask.length / (rows * count)]),
    position_ids: () => positionTensor(session, positions),
    [GROUPS_INPUT]: () => integers(session, GROUPS_INPUT, [...groups], [rows, count]),
    [HEADS_INPUT]: () => new ort.Tensor('bool', heads, [heads.length]),
    num_logits_to_keep: () => integers(session, 'num_logits_to_keep', [scored ?? 1], []),
    logits_to_keep: () => integers(session, 'logits_to_keep', [scored ?? 1], []),
    [SCORES_INPUT]: () =>
      integers(session, SCORES_INPUT, [scored === undefined ? LAST_ONLY : count - scored], [1]),
    [SLOTS_INPUT]: () => new ort.Tensor('int64', BigInt64Array.from(slots, BigInt), [rows, 1, count, 1]),
  };
  const wanted = session.inputNames.filter((name) => name in values);
  return Object.fromEntries(wanted.map((name) => [name, values[name]!()]));
}
