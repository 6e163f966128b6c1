import { RunError } from '../../core/errors.js';
import { inMegabytes, residentBytes, statusBytes } from '../../memory.js';
import type { MemoryLimits } from '../../core/load-request.js';

/** What V8 may come to hold beside what it holds now: messages, texts, garbage. */
const HEAP_BYTES = 32 * 2 ** 20;

/** Room that is left is worth no less than this: what little a run needs is cheaper to try than to refuse everything. */
export const MIN_AVAILABLE = 8 * 2 ** 20;

/** Bytes that runs and caches may take, once the model is open; Infinity without a limit. */
export function availableMemory(memory: MemoryLimits | undefined, used = usedBytes()): number {
  if (memory === undefined) return Infinity;
  return Math.max(MIN_AVAILABLE, memory.limit - memory.bodies - used - HEAP_BYTES);
}

/** What this process holds, mapped weights included, and what its parent holds by itself. */
function usedBytes(): number {
  const parent = process.connected ? statusBytes(process.ppid, 'RssAnon') : undefined;
  return (residentBytes(process.pid) ?? process.memoryUsage.rss()) + (parent ?? 0);
}

/**
 * @param longest tokens for whose runs there is room
 * @throws RunError 422 for a text of more
 */
export function requireMemoryFor(
  what: 'prompt' | 'text',
  tokens: number,
  longest: number,
  limit: number | undefined,
): void {
  if (tokens <= longest) return;
  throw new RunError(
    'unprocessable',
    `the ${what} has ${tokens} tokens; in the ${inMegabytes(limit!)} of memory that this server may use there is room for ` +
      `${longest}: shorten it, or give the server more memory`,
  );
}
