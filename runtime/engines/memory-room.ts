import { readFileSync } from 'node:fs';
import type { MemoryLimits } from './handle.js';

/** What V8 may come to hold beside what it holds now: messages, texts, garbage. */
const HEAP_BYTES = 32 * 2 ** 20;

/** Room that is left is worth no less than this: what little a run needs is cheaper to try than to refuse everything. */
const LEAST_BYTES = 8 * 2 ** 20;

/** Bytes that runs and caches may take, once the model is open; Infinity without a limit. */
export function memoryRoom(memory: MemoryLimits | undefined, used = usedBytes()): number {
  if (memory === undefined) return Infinity;
  return Math.max(LEAST_BYTES, memory.limit - memory.bodies - used - HEAP_BYTES);
}

/** What this process holds, mapped weights included, and what its parent holds by itself. */
function usedBytes(): number {
  const parent = process.connected ? statusOf(process.ppid, 'RssAnon') : undefined;
  return (statusOf('self', 'VmRSS') ?? process.memoryUsage.rss()) + (parent ?? 0);
}

function statusOf(pid: number | 'self', name: string): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    // Not Linux.
    return undefined;
  }
}

/** How messages name an amount of memory. */
export const inMegabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
