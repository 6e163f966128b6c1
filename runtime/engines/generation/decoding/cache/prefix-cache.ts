import type { CacheBudget, Reservation } from './cache-budget.js';
import type { SequenceCache } from './kv-cache.js';

export interface Prefix {
  cache: SequenceCache;
  /** How many of its tokens begin the prompt. */
  length: number;
}

/**
 * Caches of texts that have ended, for prompts that begin like them: the turns of one conversation, a system prompt.
 * Lives on what the budget has left over.
 */
export interface PrefixStore {
  /** The stored text that shares the longest beginning with a prompt, if it is worth a copy. */
  take(prompt: readonly number[]): Prefix | undefined;
  /** Keeps a text's cache where there is room; the oldest ones go for it. */
  put(tokens: readonly number[], extract: () => SequenceCache): void;
  /** Lets go of the oldest until this many bytes are free, or nothing is left. */
  shrink(bytes: number): void;
}

/** Shorter ones are fed anew: that is as quick as the copy. */
const SHORTEST = 16;
/** Texts that are kept at most. */
const MOST = 64;

interface Stored {
  tokens: readonly number[];
  cache: SequenceCache;
  reserved: Reservation;
}

export function createPrefixStore(budget: CacheBudget, perToken: number): PrefixStore {
  /** The oldest first. */
  const stored: Stored[] = [];

  function drop(): void {
    stored.shift()!.reserved.release();
  }

  function shrink(bytes: number): void {
    while (stored.length > 0 && budget.free < bytes) drop();
  }

  return {
    shrink,
    take(prompt) {
      let best: { entry: Stored; length: number } | undefined;
      for (const entry of stored) {
        // The last token of a prompt is always fed: its scores are wanted.
        const length = Math.min(commonLength(entry.tokens, prompt), prompt.length - 1);
        if (length >= Math.max(SHORTEST, (best?.length ?? 0) + 1)) best = { entry, length };
      }
      if (!best) return undefined;
      const { entry, length } = best;
      stored.splice(stored.indexOf(entry), 1);
      stored.push(entry);
      return { cache: entry.cache, length };
    },
    put(tokens, extract) {
      const bytes = tokens.length * perToken;
      // Half of the budget stays for those who generate, and all of it while somebody waits; a shorter beginning of the same text is worth nothing more.
      if (tokens.length < SHORTEST || bytes > budget.free / 2 || budget.waiting > 0) return;
      const covered = stored.find((entry) => commonLength(entry.tokens, tokens) === entry.tokens.length);
      if (covered) {
        stored.splice(stored.indexOf(covered), 1);
        covered.reserved.release();
      }
      if (stored.length === MOST) drop();
      stored.push({ tokens: [...tokens], cache: extract(), reserved: budget.reserve(bytes) });
    },
  };
}

function commonLength(a: readonly number[], b: readonly number[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}
