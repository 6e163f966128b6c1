import { RunError } from '../../../../core/errors.js';
import { type Batches, createBatches } from './batches.js';
import { createCacheBudget, type Reservation } from '../cache/cache-budget.js';
import { createBatchRuns, type Sequence } from './batch-runs.js';
import { checkPromptFits, type DecoderMemory } from '../cache/decoder-memory.js';
import { BUSY_PREFILL_CHUNK, createDecodeLoop } from './decode-loop.js';
import type { Decoder, Decoding, DecodingRequest } from '../decoder.js';
import { isFeature, type SeenImages } from '../prompt.js';
import {
  type CacheLayout,
  copyPrefix,
  copyRanges,
  emptySequenceCache,
  type KeysValues,
  kvBytesPerToken,
  type SequenceCache,
  stateBytes,
} from '../cache/kv-cache.js';
import type { TensorLike } from '../../../sessions/tensors.js';
import { createPrefixCache } from '../cache/prefix-cache.js';
import { reserveCache } from '../cache/reservation.js';
import type { BatchCache, BatchRow } from '../cache/batch-cache.js';
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
  /** Bytes that a request takes for the scores of its prompt. */
  scoreBytes?(request: DecodingRequest): number;
  /** A text that grows beyond so many tokens is computed again from its beginning; none is if absent. */
  switchLength?: number;
  /** False where a prompt has to be fed in one run. */
  chunkedPrefill: boolean;
  /** False where generations must not share a run: they take turns. */
  sharesRuns: boolean;
  /** Of decoders some of whose layers look at images. */
  images?: ImageKeys | undefined;
}

/** Keys and values of images. */
export interface ImageKeys {
  bytesPerState: number;
  /** @param states [length, width] */
  read(states: TensorLike): Promise<KeysValues>;
}

/** What generations attend to beside their tokens. */
export interface Source {
  /** Bytes that it takes for each row. */
  bytes: number;
  /** Its keys and values. Called once memory for them is reserved. */
  read(): Promise<KeysValues>;
}

export interface BatchDecoder extends Decoder {
  /**
   * Starts one row with an empty cache.
   * @param source for decoders that attend to one
   * @throws RunError 503 when there is no room for it now, 422 when there never will be; what reading the source throws
   */
  start(request: DecodingRequest, source?: Source): Promise<Decoding>;
}

/**
 * Continuous batching: each run computes the next token of all generations under way. Prompts are fed between these
 * runs and join the batch when they are through. Rows leave it when they end.
 */
export function createBatchDecoder(options: BatchDecoderOptions): BatchDecoder {
  const { session, chunkedPrefill, contextLength } = options;
  const { layout } = session;
  const bytesPerToken = kvBytesPerToken(layout);
  const budget = createCacheBudget(options.memory.cacheBytes, options.memory.cacheLimit);
  const ownBytes = stateBytes(layout);
  const prefixes = createPrefixCache(budget, {
    ...{ bytesPerToken, fixedBytes: ownBytes, wholeOnly: ownBytes > 0 },
  });
  const batches = createBatches(layout, options.sharesRuns);
  const { chunk } = options;
  // Keys and values of tokens that attended to a source are of no use to another one.
  const keepsPrefixes = chunkedPrefill && !layout.source;
  const chunks = chunkedPrefill
    ? { idle: chunk, busy: Math.min(chunk, BUSY_PREFILL_CHUNK) }
    : { idle: Infinity, busy: Infinity };
  const loop = createDecodeLoop<Sequence>({ ...createBatchRuns(session, batches), chunks });

  function join(sequence: Sequence): void {
    if (sequence.rows.length > 0) return;
    const cache = withLastSeen(layout, sequence.cache!, sequence.prompt.images);
    const { batch, row } = batches.join(cache, sequence.prompt.positions?.shift);
    Object.assign(sequence, { batch, rows: [row], cache: undefined });
  }

  /** @returns how many tokens of the prompt the prefix cache had; never all of them */
  function reusePrefix(sequence: Sequence, keys: readonly number[]): number {
    const found = keepsPrefixes ? prefixes.lookUp(keys) : undefined;
    if (!found) return 0;
    sequence.cache = copyPrefix(layout, found.cache, found.length);
    sequence.tokens = keys.slice(0, found.length);
    return found.length;
  }

  async function step(sequence: Sequence, tokens: readonly number[]): Promise<Float32Array[]> {
    const again = sequence.tokens.length === options.switchLength;
    if (!again) join(sequence);
    const scores = again
      ? await loop.prefill(sequence, restarted(sequence, tokens, batches, layout))
      : await loop.step(sequence, tokens);
    noteFed(sequence, tokens.slice(0, 1));
    return scores;
  }

  /** Notes what the first row has been fed. A sequence that grows past the context it reserved reserves more. */
  function noteFed(sequence: Sequence, tokens: readonly number[]): void {
    const { reservation, rows, tokens: fed, fixedBytes } = sequence;
    for (const token of tokens) fed.push(token);
    if (fed.length < (contextLength ?? Infinity)) return;
    reservation.grow(Math.max(1, rows.length) * (fixedBytes + (fed.length + 1) * bytesPerToken));
  }

  function decodingOf(sequence: Sequence): Decoding {
    return {
      async prefill(prompt, tell) {
        const { tokens, keys = tokens } = prompt;
        sequence.prompt = prompt;
        const source = prompt.images && (await options.images!.read(prompt.images.states));
        if (source) sequence.cache = { ...sequence.cache!, source };
        // Scores of what the cache has are not known any more.
        const reused = tell ? 0 : reusePrefix(sequence, keys);
        const rest = tokens.slice(reused);
        // One token after a reused prefix is a step like those of others.
        if (reused > 0 && rest.length === 1 && !isFeature(prompt, reused))
          return (await step(sequence, rest))[0]!;
        sequence.tell = tell;
        const [scores] = await loop.prefill(sequence, rest);
        sequence.tell = undefined;
        noteFed(sequence, keys.slice(reused));
        return scores!;
      },
      step: (tokens) => step(sequence, tokens),
      reorder(from) {
        join(sequence);
        sequence.isUnkept ||= from.length > 1;
        const { rows, batch } = sequence;
        const { going, left } = continued(rows, from, batch!);
        sequence.rows = going;
        batches.leave(batch!, left);
      },
      end() {
        const { reservation, batch, rows, isUnkept, tokens } = sequence;
        reservation.release();
        if (keepsPrefixes && batch && !isUnkept) prefixes.insert(tokens, () => batch.extract(rows[0]!));
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
    async start(request, source) {
      checkPromptFits(options.memory, request.promptLength);
      const imageBytes = (request.imageStates ?? 0) * (options.images?.bytesPerState ?? 0);
      const fixedBytes = ownBytes + (source?.bytes ?? imageBytes);
      const length = Math.min(request.maxLength, contextLength ?? request.maxLength);
      const rowBytes = fixedBytes + length * bytesPerToken;
      const bytes = request.maxRows * rowBytes + (options.scoreBytes?.(request) ?? 0);
      // Kept prefixes make room for this request.
      prefixes.evictFor(bytes);
      const reservation = await reserveCache(budget, bytes, request);
      const read = await readSource(source, reservation);
      const cache = { ...emptySequenceCache(layout), ...(read && { source: read }) };
      const fresh = { batch: undefined, rows: [], tokens: [], prompt: { tokens: [] }, isUnkept: false };
      return decodingOf({ ...fresh, cache, fixedBytes, reservation, request });
    },
  };
}

/** What is generated looks at what the last token of the prompt looks at, and other states are kept no longer. */
function withLastSeen(
  { source: ports, type }: CacheLayout,
  cache: SequenceCache,
  images: SeenImages | undefined,
): SequenceCache {
  if (!images) return cache;
  return { ...cache, source: copyRanges(ports!, type, cache.source!, images.seen.at(-1)!) };
}

/**
 * Takes a generation of one row back to its beginning. @returns all of its tokens, to be fed again
 * @throws RunError 422 for several rows
 */
function restarted(
  sequence: Sequence,
  tokens: readonly number[],
  batches: Batches,
  layout: CacheLayout,
): number[] {
  const { rows, batch, prompt } = sequence;
  if (rows.length > 1 || tokens.length > 1) throw switchesRows(sequence.tokens.length);
  if (batch) batches.leave(batch, rows);
  const whole = [...sequence.tokens, ...tokens];
  const fresh = { rows: [], batch: undefined, cache: emptySequenceCache(layout) };
  Object.assign(sequence, { ...fresh, prompt: { ...prompt, tokens: whole, keys: whole } });
  return whole;
}

const switchesRows = (length: number): RunError =>
  new RunError(
    'unprocessable',
    `this model counts positions anew beyond ${length} tokens, which beams can't: ask for fewer tokens, or for num_beams 1`,
  );

async function readSource(
  source: Source | undefined,
  reservation: Reservation,
): Promise<KeysValues | undefined> {
  try {
    return await source?.read();
  } catch (error) {
    reservation.release();
    throw error;
  }
}

/** The rows that go on as `from` says, and those that don't go on at all. */
function continued(
  rows: readonly BatchRow[],
  from: readonly number[],
  batch: BatchCache,
): { going: BatchRow[]; left: Set<BatchRow> } {
  // A row that goes on stays as it is the first time; other times overwrite those that don't go on, or are new rows.
  const left = new Set(rows);
  const kept = from.map((source) => left.delete(rows[source]!));
  const going = from.map((source, i) => {
    const row = rows[source]!;
    if (kept[i]) return row;
    const [free] = left;
    if (!free) return batch.duplicate(row);
    left.delete(free);
    batch.overwrite(free, row);
    return free;
  });
  return { going, left };
}
