import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { requireLogits } from '../../../../core/not-finite.js';
import { integers } from '../../../sessions/tensors.js';
import { CACHE_INPUT, isCrossAttention, presentName } from './cross-cache.js';
import type { Decoding } from '../decoder.js';
import type { TokenEmbedder } from '../embeddings/token-embedder.js';
import { gatherRows, lastScores } from '../gather-rows.js';
import { type ForkableDecoding, decodeRowByRow, hasSingleRow } from '../row-by-row.js';

/** The decoder of one model. In a merged export both are the same session. */
export interface DecoderGraphs {
  /** Takes tokens and the encoder's states; makes the cache. */
  first: InferenceSession;
  /** Takes one token and the cache. */
  next: InferenceSession;
  /** For graphs that take embeddings. */
  embedder: TokenEmbedder | undefined;
}

/**
 * Starts one row. Keys and values of the source (`cross`) are computed with the prompt and never fetched again; those of
 * the tokens (`self`) grow with each step.
 */
export function startCrossDecoding(graphs: DecoderGraphs, initial: CrossState): Decoding {
  const rows = decodingOf(graphs, initial);
  return hasSingleRow(graphs.next) ? decodeRowByRow(rows) : rows;
}

interface CrossState {
  /** The states of the source: [rows, length, width]. */
  states: Tensor;
  /** How many of them are no padding; all by default. */
  seen?: number | undefined;
  /** What a merged decoder wants at its cache inputs with the prompt. */
  empty: Record<string, Tensor>;
  /** The cache so far, by the names of the inputs. Never changed in place. */
  cache?: Record<string, Tensor> | undefined;
}

function decodingOf(graphs: DecoderGraphs, initial: CrossState): ForkableDecoding {
  const { first, next, embedder } = graphs;
  let { states, cache } = initial;
  const inputs = next.inputNames.filter((name) => CACHE_INPUT.test(name));
  const growing = inputs.filter((name) => !isCrossAttention(name));

  const feedsOf = (
    session: InferenceSession,
    rows: readonly (readonly number[])[],
    embedded: Tensor | undefined,
  ): Record<string, Tensor> => {
    /** Over the tokens of the cache and of this run. */
    const ownMask = (name: string) => {
      const length = (cache ? cache[growing[0]!]!.dims[2]! : 0) + rows[0]!.length;
      const ones = new Array<number>(rows.length * length).fill(1);
      return integers(session, name, ones, [rows.length, length]);
    };
    const all: Record<string, () => Tensor> = {
      input_ids: () => integers(session, 'input_ids', rows.flat(), [rows.length, rows[0]!.length]),
      inputs_embeds: () => embedded!,
      encoder_attention_mask: () => {
        const [, length] = states.dims as [number, number];
        const mask = Array.from({ length: rows.length * length }, (_, i) =>
          i % length < (initial.seen ?? length) ? 1 : 0,
        );
        return integers(session, 'encoder_attention_mask', mask, [rows.length, length]);
      },
      attention_mask: () => ownMask('attention_mask'),
      decoder_attention_mask: () => ownMask('decoder_attention_mask'),
      encoder_hidden_states: () => states,
      use_cache_branch: () => new ort.Tensor('bool', [cache !== undefined], [1]),
    };
    const wanted = session.inputNames.filter((name) => name in all);
    return Object.fromEntries(wanted.map((name) => [name, all[name]!()]));
  };

  async function feed(rows: readonly (readonly number[])[]): Promise<Float32Array[]> {
    const session = cache ? next : first;
    const kept = cache ? growing : inputs;
    const embedded = embedder ? await embedder.embed(rows) : undefined;
    const feeds = { ...feedsOf(session, rows, embedded), ...(cache ?? initial.empty) };
    const outputs = await session.run(feeds, ['logits', ...kept.map(presentName)]);
    const presents = Object.fromEntries(kept.map((name) => [name, outputs[presentName(name)]!]));
    cache = { ...cache, ...presents };
    return lastScores(outputs['logits']!).map(requireLogits);
  }

  return {
    prefill: async ({ tokens }) => (await feed([tokens]))[0]!,
    step: (tokens) => feed(tokens.map((token) => [token])),
    reorder(from) {
      const before = states.dims[0];
      if (from.length === before && from.every((source, i) => source === i)) return;
      // All rows attend to the same source: what comes from it changes with their number only.
      const sameNumber = from.length === before;
      if (!sameNumber) states = gatherRows(states, from);
      const kept = Object.entries(cache ?? {}).map(
        ([name, tensor]) =>
          [name, sameNumber && isCrossAttention(name) ? tensor : gatherRows(tensor, from)] as const,
      );
      cache &&= Object.fromEntries(kept);
    },
    fork: () => decodingOf(graphs, { ...initial, states, cache }),
    end() {
      cache = undefined;
    },
  };
}
