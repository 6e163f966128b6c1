import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { requireLogits } from '../../../../core/not-finite.js';
import { integers } from '../../../sessions/tensors.js';
import { type CacheInput, emptyCacheTensors } from './cache-inputs.js';
import type { Decoding, PromptScores } from '../decoder.js';
import { embedPrompt, type TokenEmbedder } from '../embeddings/token-embedder.js';
import { positionAxes, positionTensor } from '../position-input.js';
import { isFeature, positionsOf, type Prompt } from '../prompt.js';
import { LAST_ONLY, SCORES_INPUT } from '../graph/chosen-scores.js';
import { gatherRows, lastScores, requireAll, scoresOfTokens } from '../gather-rows.js';
import { type ForkableDecoding, decodeRowByRow, hasSingleRow } from '../row-by-row.js';

/** 1 where features of images stand, 0 for words: [rows, tokens]. Such graphs let features of an image see each other. */
export const TOKEN_TYPES_INPUT = 'token_type_ids';

export interface SingleGraph {
  session: InferenceSession;
  caches: readonly CacheInput[];
  /** For a graph that takes embeddings. */
  embedder?: TokenEmbedder | undefined;
  /** A text that grows beyond this many tokens is computed again from its beginning; Infinity where none is. */
  ropeSwitchLength: number;
}

/** Rows that share a run: their tokens, equally many, and their caches. Never changed in place. */
interface Rows {
  /** What all of them begin with. */
  prompt: Prompt;
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
  const rows = decodingOf(
    { graph, prefill },
    { prompt: { tokens: [] }, tokens: [[]], tensors: emptyCacheTensors(graph.caches, 1) },
  );
  return hasSingleRow(graph.session) ? decodeRowByRow(rows) : rows;
}

function decodingOf(given: { graph: SingleGraph; prefill: PrefillOptions }, initial: Rows): ForkableDecoding {
  const { graph, prefill } = given;
  let rows = initial;

  /** @param tell gets all scores, of one row */
  async function feed(
    newTokens: readonly (readonly number[])[],
    tell?: PromptScores,
  ): Promise<Float32Array[]> {
    const past = rows.tokens[0]!.length;
    const { outputs, tokens } = await advance(graph, rows, { newTokens, wantsAll: tell !== undefined });
    const tensors = graph.caches.map(({ name, present }) => [name, outputs[present]!] as const);
    rows = { prompt: rows.prompt, tokens, tensors: Object.fromEntries(tensors) };
    await tell?.(requireAll(scoresOfTokens(outputs['logits']!), newTokens[0]!.length), past);
    return lastScores(outputs['logits']!).map(requireLogits);
  }

  return {
    async prefill(prompt, tell) {
      const { tokens } = prompt;
      rows = { ...rows, prompt };
      // Scores before the switch of positions are those of the whole prompt, too.
      const chunk = tell && tokens.length > graph.ropeSwitchLength ? Infinity : prefill.chunk;
      let scores: Float32Array[] = [];
      for (let at = 0; at < tokens.length; at += chunk) {
        prefill.signal.throwIfAborted();
        scores = await feed([tokens.slice(at, at + chunk)], tell);
      }
      return scores[0]!;
    },
    step: (tokens) => feed(tokens.map((token) => [token])),
    reorder(from) {
      rows = gatherAll(rows, from);
    },
    fork: () => decodingOf(given, rows),
    end() {
      rows = { prompt: { tokens: [] }, tokens: [], tensors: {} };
    },
  };
}

interface NextTokens {
  /** Of each row. */
  newTokens: readonly (readonly number[])[];
  /** Scores of all of them, not of the last ones only. */
  wantsAll: boolean;
}

async function advance(graph: SingleGraph, rows: Rows, { newTokens, wantsAll }: NextTokens) {
  const { session, caches, ropeSwitchLength } = graph;
  const past = rows.tokens[0]!.length;
  const tokens = rows.tokens.map((row, i) => row.concat(newTokens[i]!));
  const again = past > 0 && past <= ropeSwitchLength && tokens[0]!.length > ropeSwitchLength;
  const feeds = again
    ? {
        ...(await tokenFeeds(graph, { prompt: rows.prompt, tokens, wantsAll }, 0)),
        ...emptyCacheTensors(caches, tokens.length),
      }
    : {
        ...(await tokenFeeds(graph, { prompt: rows.prompt, tokens: newTokens, wantsAll }, past)),
        ...rows.tensors,
      };
  return { outputs: await session.run(feeds), tokens };
}

function gatherAll(rows: Rows, from: readonly number[]): Rows {
  if (from.length === rows.tokens.length && from.every((source, i) => source === i)) return rows;
  const tensors = Object.entries(rows.tensors).map(
    ([name, tensor]) => [name, gatherRows(tensor, from)] as const,
  );
  return {
    prompt: rows.prompt,
    tokens: from.map((source) => rows.tokens[source]!),
    tensors: Object.fromEntries(tensors),
  };
}

async function tokenFeeds(
  { session, embedder }: SingleGraph,
  {
    prompt,
    tokens: rows,
    wantsAll,
  }: { prompt: Prompt; tokens: readonly (readonly number[])[]; wantsAll: boolean },
  past: number,
): Promise<Record<string, Tensor>> {
  const [batch, length] = [rows.length, rows[0]!.length];
  const total = past + length;
  const embedded = embedder && (await embedPrompt(embedder, prompt, { from: past, rows }));
  const values: Record<string, () => Tensor> = {
    input_ids: () => integers(session, 'input_ids', rows.flat(), [batch, length]),
    inputs_embeds: () => embedded!,
    attention_mask: () =>
      integers(session, 'attention_mask', new BigInt64Array(batch * total).fill(1n), [batch, total]),
    position_ids: () => {
      const positions = positionsOf(prompt, { from: past, count: length, axes: positionAxes(session) });
      return positionTensor(
        session,
        rows.map(() => positions),
      );
    },
    [TOKEN_TYPES_INPUT]: () => {
      const types = Array.from({ length }, (_, i) => (isFeature(prompt, past + i) ? 1 : 0));
      return integers(
        session,
        TOKEN_TYPES_INPUT,
        rows.flatMap(() => types),
        [batch, length],
      );
    },
    use_cache_branch: () => new ort.Tensor('bool', [past > 0], [1]),
    num_logits_to_keep: () => integers(session, 'num_logits_to_keep', [wantsAll ? length : 1], []),
    logits_to_keep: () => integers(session, 'logits_to_keep', [wantsAll ? length : 1], []),
    [SCORES_INPUT]: () => integers(session, SCORES_INPUT, [wantsAll ? 0 : LAST_ONLY], [1]),
  };
  const wanted = session.inputNames.filter((name) => name in values);
  return Object.fromEntries(wanted.map((name) => [name, values[name]!()]));
}
