import { createCacheBudget } from '../generation/decoding/cache/cache-budget.js';
import { createPrefixCache } from '../generation/decoding/cache/prefix-cache.js';
import { reserveCache } from '../generation/decoding/cache/reservation.js';
import { BUSY_PREFILL_CHUNK, createDecodeLoop } from '../generation/decoding/batch/decode-loop.js';
import type { Decoder, Decoding, DecodingRequest } from '../generation/decoding/decoder.js';
import { contextTooLong } from '../../core/context-length.js';
import { createDecoderRuns, type Sequence } from './decoder-runs.js';
import type { LlamaContext } from './llama.js';
import { createRowPool, type RowReservation } from './rows.js';
import { createSerialContext } from './serial-context.js';

export interface LlamaDecoderOptions {
  context: LlamaContext;
  /** As the context was opened with. */
  rows: number;
  batch: number;
  outputs: number;
  /** Bytes of a token in the cache, for messages. */
  bytesPerToken: number;
  /** Most tokens of a text. */
  longest: number;
  /** A row can't be cut: kept texts serve prompts that begin with all of them only. */
  keepsStates: boolean;
}

/** Kept texts, and rows that stay free of them. */
const KEPT_SHARE = 0.5;

/** Generations over one context: rows meet in each run, prompts are fed between the steps. */
export function createLlamaDecoder(options: LlamaDecoderOptions): Decoder {
  const { batch, longest } = options;
  const bytesPerToken = Math.max(1, options.bytesPerToken);
  const context = createSerialContext(options.context);
  const pool = createRowPool(options.rows);
  const budget = createCacheBudget(context.cells * bytesPerToken, 'CONTEXT_LENGTH');
  const prefixes = createPrefixCache<number>(budget, {
    ...{ bytesPerToken, wholeOnly: options.keepsStates, most: Math.floor(options.rows * KEPT_SHARE) },
    drop(row) {
      context.emptyRow(row);
      pool.takeBack(row);
    },
  });
  const loop = createDecodeLoop<Sequence>({
    ...createDecoderRuns(context, options.outputs),
    chunks: { idle: batch, busy: Math.min(batch, BUSY_PREFILL_CHUNK) },
  });

  /** @returns how many tokens of the prompt the prefix cache had; never all of them */
  function reusePrefix(sequence: Sequence, tokens: readonly number[]): number {
    const found = prefixes.lookUp(tokens);
    if (!found) return 0;
    context.copyRow(found.cache, sequence.rows[0]!, options.keepsStates ? undefined : found.length);
    sequence.tokens = tokens.slice(0, found.length);
    sequence.length = found.length;
    return found.length;
  }

  const decodingOf = (sequence: Sequence): Decoding => ({
    async prefill({ tokens }, tell) {
      // Scores of what the cache has are not known any more.
      const rest = tokens.slice(tell ? 0 : reusePrefix(sequence, tokens));
      sequence.tell = tell;
      const [scores] = await loop.prefill(sequence, rest);
      sequence.tell = undefined;
      for (const token of rest) sequence.tokens.push(token);
      return scores!;
    },
    async step(tokens) {
      const scores = await loop.step(sequence, tokens);
      sequence.tokens.push(tokens[0]!);
      return scores;
    },
    reorder(from) {
      sequence.isUnkept ||= from.length > 1;
      const { rows, held } = sequence;
      const kept = new Set(from);
      for (const [i, row] of rows.entries()) if (!kept.has(i)) empty(row, held);
      const used = new Set<number>();
      sequence.rows = from.map((source) => {
        const row = rows[source]!;
        if (!used.has(row)) return (used.add(row), row);
        const copy = held.take();
        context.copyRow(row, copy);
        return copy;
      });
    },
    end() {
      const { rows, tokens, reservation, held, isUnkept } = sequence;
      reservation.release();
      const [first] = rows;
      let isKept = false;
      // What was asked for and has not come would be missing.
      if (!isUnkept && first !== undefined && sequence.length === tokens.length && pool.waiting === 0)
        prefixes.insert(tokens, () => ((isKept = true), first));
      for (const row of rows) if (!isKept || row !== first) empty(row, held);
      if (isKept) held.cede(first!);
      held.release();
      sequence.rows = [];
    },
  });

  function empty(row: number, held: RowReservation): void {
    context.emptyRow(row);
    held.give(row);
  }

  async function rowsFor({ maxRows, waits = false, signal }: DecodingRequest): Promise<RowReservation> {
    prefixes.evictUntil(() => pool.free >= maxRows);
    return waits ? pool.reserveInTurn(maxRows, signal) : pool.reserve(maxRows);
  }

  return {
    inputNames: ['input_ids', 'position_ids'],
    maxPositions: longest,
    sharesRuns: true,
    checkPrompt(length) {
      if (length > longest)
        throw contextTooLong({ subject: 'the prompt has', tokens: length, context: longest });
    },
    async start(request) {
      const bytes = bytesPerToken * cellsOf(request, longest);
      prefixes.evictFor(bytes);
      const reservation = await reserveCache(budget, bytes, request);
      try {
        const held = await rowsFor(request);
        const fresh = { length: 0, tokens: [], isUnkept: false };
        return decodingOf({ ...fresh, rows: [held.take()], reservation, held, request });
      } catch (error) {
        reservation.release();
        throw error;
      }
    },
  };
}

/** Rows share the cells of the prompt. */
function cellsOf({ maxRows, maxLength, promptLength = 0 }: DecodingRequest, longest: number): number {
  const length = Math.min(maxLength, longest);
  const shared = Math.min(promptLength, length);
  return shared + maxRows * (length - shared);
}
