import type { LoadRequest } from '../../core/load-request.js';
import { statusBytes } from '../../memory.js';
import { availableMemory } from '../sessions/available-memory.js';

export interface MemoryWatch {
  /** Bytes that runs have taken since it began; sessions keep those of their largest. */
  runBytes(): number;
  /** Whether there is memory for runs of twice as many rows. */
  mayDouble(): boolean;
}

/** Most that all sessions may come to keep for runs of several rows: a share of the room, and so many bytes. */
const SHARE = 1 / 8;
const MOST_BYTES = 64 * 2 ** 20;

/** Watches what runs keep of the memory while it is tried how many rows they should have. */
export function watchMemory(memory: LoadRequest['memory'], sessionCount: number): MemoryWatch {
  const [before, room] = [anonymousBytes(), availableMemory(memory)];
  const runBytes = () => Math.max(0, anonymousBytes() - before);
  return {
    runBytes,
    mayDouble: () => 2 * runBytes() * sessionCount <= Math.min(room * SHARE, MOST_BYTES),
  };
}

/** What this process holds beside files that are mapped. */
const anonymousBytes = (): number => statusBytes(process.pid, 'RssAnon') ?? process.memoryUsage.rss();
