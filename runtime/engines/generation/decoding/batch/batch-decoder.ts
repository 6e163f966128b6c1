import { createBatches } from './batches.js';
import { createCacheBudget } from '../cache/cache-budget.js';
import { createBatchRuns, type Sequence } from './batch-runs.js';
import { checkPrompt, type DecoderMemory } from '../cache/decoder-memory.js';
import { CHUNK_AMONG, createDecodeLoop } from './decode-loop.js';
import type { Decoder, Decoding } from '../decoder.js';
import { beginning, bytesPerToken, emptyCache } from '../cache/kv-cache.js';
import { createPrefixStore } from '../cache/prefix-cache.js';
import { reserveFor } from '../cache/reservation.js';
import type { StepSession } from './step-session.js';

export interface BatchDecoderOptions {
  session: StepSession;
  inputNames: readonly string[];
  /** Most tokens that the graph has positions for. */
  positions: number;
  /** Longest sequence that the model was made for. */
  contextLength: number | undefined;
  memory: DecoderMemory;
  /** Most tokens of a prompt to feed in one run. */
  chunk: number;
  /** False where a prompt has to be fed in one run. */
  inParts: boolean;
  /** False where generations must not share a run; they take turns then. */
  shares: boolean;
}

/**
 * Continuous batching: the generations under way meet at the session. Each run computes the next token of all of them;
 * prompts are fed between these runs and join when they are through. Rows leave when they end.
 */
export function createBatchDecoder(options: BatchDecoderOptions): Decoder {
  const { session, inParts, contextLength } = options;
  const { layout } = session;
  const perToken = bytesPerToken(layout);
  const budget = createCacheBudget(options.memory.cacheBytes, options.memory.cacheLimit);
  const prefixes = createPrefixStore(budget, perToken);
  const batches = createBatches(layout, perToken, options.shares);
  const { chunk } = options;
  const chunks = inParts
    ? { alone: chunk, among: Math.min(chunk, CHUNK_AMONG) }
    : { alone: Infinity, among: Infinity };
  const loop = createDecodeLoop<Sequence>({ ...createBatchRuns(session, batches), chunks });

  function join(sequence: Sequence): void {
    if (sequence.rows.length > 0) return;
    const { batch, row } = batches.join(sequence.cache!);
    Object.assign(sequence, { batch, rows: [row], cache: undefined });
  }

  /** @returns how many tokens of the prompt an earlier text has left; never all of them */
  function reusePrefix(sequence: Sequence, tokens: readonly number[]): number {
    const found = inParts ? prefixes.take(tokens) : undefined;
    if (!found) return 0;
    sequence.cache = beginning(layout, found.cache, found.length);
    sequence.seen = tokens.slice(0, found.length);
    return found.length;
  }

  async function step(sequence: Sequence, tokens: readonly number[]): Promise<Float32Array[]> {
    join(sequence);
    const scores = await loop.step(sequence, tokens);
    see(sequence, tokens.slice(0, 1));
    return scores;
  }

  /** Notes what the first row has been fed. A sequence that goes on past the context that it reserved takes more as it grows. */
  function see(sequence: Sequence, tokens: readonly number[]): void {
    const { reserved, rows, seen } = sequence;
    for (const token of tokens) seen.push(token);
    if (seen.length < (contextLength ?? Infinity)) return;
    reserved.grow(Math.max(1, rows.length) * (seen.length + 1) * perToken);
  }

  function decodingOf(sequence: Sequence): Decoding {
    return {
      async prefill({ tokens }) {
        const seen = reusePrefix(sequence, tokens);
        const rest = tokens.slice(seen);
        // One token after what is there is a step like those of others.
        if (seen > 0 && rest.length === 1) return (await step(sequence, rest))[0]!;
        const [scores] = await loop.prompt(sequence, rest);
        see(sequence, rest);
        return scores!;
      },
      step: (tokens) => step(sequence, tokens),
      reorder(from) {
        join(sequence);
        sequence.branched ||= from.length > 1;
        const kept = sequence.rows;
        // A row that goes on only once stays as it is; the others get twins.
        const free = new Set(kept);
        sequence.rows = from.map((source) => {
          const row = kept[source]!;
          return free.delete(row) ? row : sequence.batch!.duplicate(row);
        });
        batches.leave(sequence.batch!, free);
      },
      end() {
        const { reserved, batch, rows, branched, seen } = sequence;
        reserved.release();
        if (inParts && batch && !branched) prefixes.put(seen, () => batch.extract(rows[0]!));
        if (batch) batches.leave(batch, rows);
        Object.assign(sequence, { cache: undefined, batch: undefined, rows: [] });
      },
    };
  }

  return {
    inputNames: options.inputNames,
    positions: options.positions,
    shares: options.shares,
    async start(need) {
      checkPrompt(options.memory, need.prompt);
      const bytes = need.rows * Math.min(need.tokens, contextLength ?? need.tokens) * perToken;
      // What earlier texts have left makes room for what is asked now.
      prefixes.shrink(bytes);
      const reserved = await reserveFor(budget, bytes, need);
      const fresh = { cache: emptyCache(layout), batch: undefined, rows: [], seen: [], branched: false };
      return decodingOf({ ...fresh, reserved, need });
    },
  };
}
