import { createBatches } from './batches.js';
import { createCacheBudget } from '../cache/cache-budget.js';
import { createBatchRuns, type Sequence } from './batch-runs.js';
import { checkPromptFits, type DecoderMemory } from '../cache/decoder-memory.js';
import { BUSY_PREFILL_CHUNK, createDecodeLoop } from './decode-loop.js';
import type { Decoder, Decoding } from '../decoder.js';
import { isFeature } from '../prompt.js';
import { copyPrefix, kvBytesPerToken, emptySequenceCache } from '../cache/kv-cache.js';
import { createPrefixCache } from '../cache/prefix-cache.js';
import { reserveCache } from '../cache/reservation.js';
import type { StepSession } from './step-session.js';

export interface BatchDecoderOptions {
  session: StepSession;
  inputNames: readonly string[];
  /** Most tokens that the graph has positions for. */
  maxPositions: number;
  /** Longest sequence that the model was made for. */
  contextLength: number | undefined;
  memory: DecoderMemory;
  /** Most tokens of a prompt to feed in one run. */
  chunk: number;
  /** False where a prompt has to be fed in one run. */
  chunkedPrefill: boolean;
  /** False where generations must not share a run: they take turns. */
  sharesRuns: boolean;
}

/**
 * Continuous batching: each run computes the next token of all generations under way. Prompts are fed between these
 * runs and join the batch when they are through. Rows leave it when they end.
 */
export function createBatchDecoder(options: BatchDecoderOptions): Decoder {
  const { session, chunkedPrefill, contextLength } = options;
  const { layout } = session;
  const bytesPerToken = kvBytesPerToken(layout);
  const budget = createCacheBudget(options.memory.cacheBytes, options.memory.cacheLimit);
  const prefixes = createPrefixCache(budget, bytesPerToken);
  const batches = createBatches(layout, bytesPerToken, options.sharesRuns);
  const { chunk } = options;
  const chunks = chunkedPrefill
    ? { idle: chunk, busy: Math.min(chunk, BUSY_PREFILL_CHUNK) }
    : { idle: Infinity, busy: Infinity };
  const loop = createDecodeLoop<Sequence>({ ...createBatchRuns(session, batches), chunks });

  function join(sequence: Sequence): void {
    if (sequence.rows.length > 0) return;
    const { batch, row } = batches.join(sequence.cache!, sequence.prompt.positions?.shift);
    Object.assign(sequence, { batch, rows: [row], cache: undefined });
  }

  /** @returns how many tokens of the prompt the prefix cache had; never all of them */
  function reusePrefix(sequence: Sequence, keys: readonly number[]): number {
    const found = chunkedPrefill ? prefixes.lookUp(keys) : undefined;
    if (!found) return 0;
    sequence.cache = copyPrefix(layout, found.cache, found.length);
    sequence.tokens = keys.slice(0, found.length);
    return found.length;
  }

  async function step(sequence: Sequence, tokens: readonly number[]): Promise<Float32Array[]> {
    join(sequence);
    const scores = await loop.step(sequence, tokens);
    noteFed(sequence, tokens.slice(0, 1));
    return scores;
  }

  /** Notes what the first row has been fed. A sequence that grows past the context it reserved reserves more. */
  function noteFed(sequence: Sequence, tokens: readonly number[]): void {
    const { reservation, rows, tokens: fed } = sequence;
    for (const token of tokens) fed.push(token);
    if (fed.length < (contextLength ?? Infinity)) return;
    reservation.grow(Math.max(1, rows.length) * (fed.length + 1) * bytesPerToken);
  }

  function decodingOf(sequence: Sequence): Decoding {
    return {
      async prefill(prompt) {
        const { tokens, keys = tokens } = prompt;
        sequence.prompt = prompt;
        const reused = reusePrefix(sequence, keys);
        const rest = tokens.slice(reused);
        // One token after a reused prefix is a step like those of others.
        if (reused > 0 && rest.length === 1 && !isFeature(prompt, reused))
          return (await step(sequence, rest))[0]!;
        const [scores] = await loop.prefill(sequence, rest);
        noteFed(sequence, keys.slice(reused));
        return scores!;
      },
      step: (tokens) => step(sequence, tokens),
      reorder(from) {
        join(sequence);
        sequence.branched ||= from.length > 1;
        const rows = sequence.rows;
        // A row that goes on only once stays as it is; the others get copies.
        const free = new Set(rows);
        sequence.rows = from.map((source) => {
          const row = rows[source]!;
          return free.delete(row) ? row : sequence.batch!.duplicate(row);
        });
        batches.leave(sequence.batch!, free);
      },
      end() {
        const { reservation, batch, rows, branched, tokens } = sequence;
        reservation.release();
        if (chunkedPrefill && batch && !branched) prefixes.insert(tokens, () => batch.extract(rows[0]!));
        if (batch) batches.leave(batch, rows);
        Object.assign(sequence, { cache: undefined, batch: undefined, rows: [] });
      },
    };
  }

  return {
    inputNames: options.inputNames,
    maxPositions: options.maxPositions,
    sharesRuns: options.sharesRuns,
    checkPrompt: (length) => checkPromptFits(options.memory, length),
    async start(request) {
      checkPromptFits(options.memory, request.promptLength);
      const bytes =
        request.maxRows * Math.min(request.maxLength, contextLength ?? request.maxLength) * bytesPerToken;
      // Kept prefixes make room for this request.
      prefixes.evictFor(bytes);
      const reservation = await reserveCache(budget, bytes, request);
      const fresh = {
        cache: emptySequenceCache(layout),
        batch: undefined,
        rows: [],
        tokens: [],
        prompt: { tokens: [] },
        branched: false,
      };
      return decodingOf({ ...fresh, reservation, request });
    },
  };
}
