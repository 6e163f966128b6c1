import type { NetworkSizes } from '../../../../core/network.js';
import { besideGrammar, grammarBytes } from '../../../../core/grammar-memory.js';
import { CACHE_COPIES, largestWithin, promptBytes } from '../../../../core/run-memory.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { requireMemoryFor, availableMemory } from '../../../sessions/available-memory.js';
import { inMegabytes } from '../../../../memory.js';

/** How a decoder divides the memory that is left once it is open. */
export interface DecoderMemory {
  /** Bytes that all caches may take. */
  cacheBytes: number;
  /** Longest prompt in tokens whose runs fit beside them; Infinity where memory sets no limit. */
  longestPrompt: number;
  /** What sets that, as messages name it. */
  cacheLimit: string;
  /** Bytes of the container, for messages. */
  limit: number | undefined;
}

export interface DecoderSizes {
  network: NetworkSizes;
  contextLength: number | undefined;
  bytesPerToken: number;
  /** Of the cache of a row beside its tokens. */
  bytesPerRow?: number;
  /** Most tokens of a prompt in one run. */
  chunk: number;
}

/**
 * Runs come one after the other, so memory for the runs of the longest prompt is set aside once, and the rest goes to
 * the caches: at least the cache of that prompt fits.
 */
export function planDecoderMemory(request: LoadRequest, sizes: DecoderSizes): DecoderMemory {
  const { memory, spec, cacheBytes } = request;
  const limit = memory?.limit;
  const free = availableMemory(memory);
  const room = besideGrammar(free, grammarBytes(spec.task, sizes.network.vocabulary));
  if (room === Infinity) return { cacheBytes, cacheLimit: 'CACHE_BYTES', longestPrompt: Infinity, limit };
  const { network, contextLength = Infinity, bytesPerToken, bytesPerRow = 0, chunk } = sizes;
  const integers = /^(?:q8|u?int8)$/.test(spec.dtype);
  const shape = { sizes: network, perToken: bytesPerToken, chunk, integers };
  const bytesOf = (length: number) => promptBytes(shape, length);
  const withCache = (length: number) =>
    bytesOf(length) + CACHE_COPIES * (bytesPerRow + bytesPerToken * length);
  const longestPrompt = largestWithin(room, contextLength, withCache);
  const runs = longestPrompt === Infinity ? room / 2 : Math.min(room, bytesOf(longestPrompt));
  const left = Math.floor((room - runs) / CACHE_COPIES);
  return {
    cacheBytes: Math.min(cacheBytes, left),
    cacheLimit: left < cacheBytes ? `${inMegabytes(limit!)} of memory` : 'CACHE_BYTES',
    longestPrompt: longestPrompt === contextLength ? Infinity : longestPrompt,
    limit,
  };
}

/** @throws RunError 422 for a prompt whose runs would not fit */
export function checkPromptFits({ longestPrompt, limit }: DecoderMemory, prompt: number | undefined): void {
  if (prompt !== undefined) requireMemoryFor('prompt', prompt, longestPrompt, limit);
}
