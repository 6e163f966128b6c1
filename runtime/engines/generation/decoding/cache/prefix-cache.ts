import type { CacheBudget, Reservation } from './cache-budget.js';
import type { SequenceCache } from './kv-cache.js';

export interface PrefixMatch<Cache> {
  cache: Cache;
  /** How many of its tokens are the beginning of the prompt. */
  length: number;
}

/**
 * Caches of texts that have ended, for prompts that begin like them: the turns of one conversation, a system prompt.
 * It uses what the budget has free.
 */
export interface PrefixCache<Cache = SequenceCache> {
  /** The kept text that shares the longest beginning with a prompt, if it is worth a copy. */
  lookUp(prompt: readonly number[]): PrefixMatch<Cache> | undefined;
  /** Keeps the cache of a text where there is room. The oldest one leaves when there are too many. */
  insert(tokens: readonly number[], extract: () => Cache): void;
  /** Evicts the oldest until this many bytes are free, or nothing is left. */
  evictFor(bytes: number): void;
  /** Evicts the oldest until there is enough of something else, or nothing is left. */
  evictUntil(enough: () => boolean): void;
}

/** Shorter beginnings are computed again: that is as fast as the copy. */
const MIN_LENGTH = 16;
/** Most texts that are kept. */
const MAX_ENTRIES = 64;

export interface PrefixCacheOptions<Cache = SequenceCache> {
  bytesPerToken: number;
  /** Of a text beside its tokens. */
  fixedBytes?: number;
  /** True where a kept text serves prompts that begin with all of it only: states know no former ones. */
  wholeOnly?: boolean;
  /** Most texts that are kept. */
  most?: number;
  /** Frees a cache that is kept no more, where that has to be said. */
  drop?(cache: Cache): void;
}

interface Entry<Cache> {
  tokens: readonly number[];
  cache: Cache;
  reservation: Reservation;
}

export function createPrefixCache<Cache = SequenceCache>(
  budget: CacheBudget,
  options: PrefixCacheOptions<Cache>,
): PrefixCache<Cache> {
  const { bytesPerToken, fixedBytes = 0, wholeOnly = false, most = MAX_ENTRIES } = options;
  /** The oldest first. */
  const entries: Entry<Cache>[] = [];

  function forget({ reservation, cache }: Entry<Cache>): void {
    reservation.release();
    options.drop?.(cache);
  }

  const evictOldest = (): void => forget(entries.shift()!);

  function evictUntil(enough: () => boolean): void {
    while (entries.length > 0 && !enough()) evictOldest();
  }

  return {
    evictUntil,
    evictFor: (bytes) => evictUntil(() => budget.free >= bytes),
    lookUp(prompt) {
      let best: { entry: Entry<Cache>; length: number } | undefined;
      for (const entry of entries) {
        // The last token of a prompt is always fed: its scores are needed.
        const length = Math.min(commonLength(entry.tokens, prompt), prompt.length - 1);
        if (wholeOnly && length < entry.tokens.length) continue;
        if (length >= Math.max(MIN_LENGTH, (best?.length ?? 0) + 1)) best = { entry, length };
      }
      if (!best) return undefined;
      const { entry, length } = best;
      entries.splice(entries.indexOf(entry), 1);
      entries.push(entry);
      return { cache: entry.cache, length };
    },
    insert(tokens, extract) {
      const bytes = fixedBytes + tokens.length * bytesPerToken;
      // Half of the free budget stays for generations, and all of it while one waits.
      if (tokens.length < MIN_LENGTH || bytes > budget.free / 2 || budget.waiting > 0) return;
      // A shorter beginning of the same text is of no more use.
      const shorter = entries.find((entry) => commonLength(entry.tokens, tokens) === entry.tokens.length);
      if (shorter) {
        entries.splice(entries.indexOf(shorter), 1);
        forget(shorter);
      }
      if (entries.length >= most) evictOldest();
      entries.push({ tokens: [...tokens], cache: extract(), reservation: budget.reserve(bytes) });
    },
  };
}

function commonLength(a: readonly number[], b: readonly number[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}
