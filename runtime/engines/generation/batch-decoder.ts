import { createBatches } from './batches.js';
import { createCacheBudget, type Reservation } from './cache-budget.js';
import { createDecodeLoop, type Job } from './decode-loop.js';
import type { Decoder, Decoding, Need } from './decoder.js';
import { appended, beginning, bytesPerToken, emptyCache, type SequenceCache } from './kv-cache.js';
import type { KvRows, Row } from './kv-rows.js';
import { createPrefixStore } from './prefix-store.js';
import type { StepSession } from './step-session.js';

export interface BatchDecoderOptions {
  session: StepSession;
  inputNames: readonly string[];
  /** Longest sequence that the model was made for. */
  contextLength: number | undefined;
  /** Bytes that all caches may take. */
  cacheBytes: number;
  /** Most tokens of a prompt to feed in one run. */
  chunk: number;
  /** False where a prompt has to be fed in one run. */
  inParts: boolean;
  /** False where generations must not share a run; they take turns then. */
  shares: boolean;
}

/** A generation: first one sequence that is being fed its prompt, then rows of a batch. */
interface Sequence {
  /** Until it joins a batch. */
  cache: SequenceCache | undefined;
  batch: KvRows | undefined;
  rows: Row[];
  /** Tokens that it has seen; those of the first row, once there are more. */
  seen: number[];
  /** True once it has been more than one row. */
  branched: boolean;
  reserved: Reservation;
  need: Need;
}

/**
 * Continuous batching: the generations under way meet at the session. Each run computes the next token of all of them;
 * prompts are fed between these runs and join when they are through. Rows leave when they end.
 */
export function createBatchDecoder(options: BatchDecoderOptions): Decoder {
  const { session, inParts, contextLength } = options;
  const { layout } = session;
  const perToken = bytesPerToken(layout);
  const budget = createCacheBudget(options.cacheBytes);
  const prefixes = createPrefixStore(budget, perToken);
  const batches = createBatches(layout, perToken, options.shares);
  const loop = createDecodeLoop<Sequence>({ runPrompt, runSteps });

  async function runPrompt({ sequence, tokens, resolve, reject }: Job<Sequence>): Promise<void> {
    try {
      sequence.need.signal.throwIfAborted();
      const { scores, fresh } = await session.prefill(tokens[0]!, sequence.cache!);
      sequence.cache = appended(layout, sequence.cache!, fresh);
      resolve(scores);
    } catch (error) {
      reject(error);
    }
  }

  async function runSteps(jobs: Job<Sequence>[]): Promise<void> {
    for (const batch of batches) {
      const own = jobs.filter(({ sequence }) => sequence.batch === batch);
      if (own.length > 0) await runBatch(batch, own);
    }
  }

  /** One token for every row. Rows whose generation is not asking just now come along; their result is dropped. */
  async function runBatch(batch: KvRows, jobs: Job<Sequence>[]): Promise<void> {
    try {
      const tokens = batch.rows.map(() => 0);
      for (const { sequence, tokens: next } of jobs) {
        sequence.rows.forEach(({ index }, i) => (tokens[index] = next[i]![0]!));
      }
      batch.makeRoom();
      const { scores, fresh } = await session.step(tokens, batch);
      const rows = jobs.flatMap(({ sequence }) => sequence.rows);
      batch.write(rows, fresh);
      for (const { sequence, resolve } of jobs) resolve(sequence.rows.map(({ index }) => scores[index]!));
    } catch (error) {
      for (const { reject } of jobs) reject(error);
    }
  }

  function join(sequence: Sequence): void {
    if (sequence.rows.length > 0) return;
    const { batch, row } = batches.join(sequence.cache!);
    Object.assign(sequence, { batch, rows: [row], cache: undefined });
  }

  function decodingOf(sequence: Sequence): Decoding {
    return {
      resume(prompt) {
        const found = inParts ? prefixes.take(prompt) : undefined;
        if (!found) return 0;
        sequence.cache = beginning(layout, found.cache, found.length);
        sequence.seen = prompt.slice(0, found.length);
        return found.length;
      },
      async step(tokens) {
        const feeds = sequence.rows.length === 0 && (tokens[0]!.length > 1 || sequence.cache!.length === 0);
        if (!feeds) join(sequence);
        const scores = await (feeds ? loop.prompt(sequence, tokens[0]!) : loop.step(sequence, tokens));
        sequence.seen.push(...tokens[0]!);
        growBeyond(contextLength, sequence, perToken);
        return scores;
      },
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
    shares: options.shares,
    chunk: inParts ? options.chunk : Infinity,
    async start(need) {
      const bytes = need.rows * Math.min(need.tokens, contextLength ?? need.tokens) * perToken;
      // What earlier texts have left makes room for what is asked now.
      prefixes.shrink(bytes);
      const reserved = budget.reserve(bytes);
      const fresh = { cache: emptyCache(layout), batch: undefined, rows: [], seen: [], branched: false };
      return decodingOf({ ...fresh, reserved, need });
    },
  };
}

/** A sequence that goes on past the context that it reserved takes more as it grows. */
function growBeyond(contextLength = Infinity, sequence: Sequence, perToken: number): void {
  const { reserved, rows, seen } = sequence;
  if (seen.length >= contextLength) reserved.grow(Math.max(1, rows.length) * (seen.length + 1) * perToken);
}
