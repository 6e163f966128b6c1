import type { NetworkSizes } from '../../../../core/network.js';
import { largestWithin, runBytes } from '../../../../core/run-memory.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { requireMemoryFor, availableMemory } from '../../../sessions/available-memory.js';
import { sessionCount } from '../../../batching/run-room.js';
import type { PooledSession } from '../../../sessions/session-pool.js';

/** What the runs of an encoder may take of the memory that is left once it is open, in tokens. */
export interface EncoderMemory {
  /** Most tokens of a run of several rows. */
  tokens: number;
  /** Longest row that any session may compute. */
  longestAnywhere: number;
  /** Longest row at all: the first session's, while it is the only long one. */
  longest: number;
  /** Bytes of the container, for messages. */
  limit: number | undefined;
}

export interface EncoderMemoryOptions {
  sizes: NetworkSizes;
  /** Longest row that the model takes. */
  positions: number;
  memory: LoadRequest['memory'];
}

/**
 * Each session keeps the memory of its largest run. Where the longest row fits into all of them, nothing is limited; else
 * half of the room is the first session's for long rows, one at a time.
 */
export function encoderMemory(
  sessions: readonly PooledSession[],
  { sizes, positions, memory }: EncoderMemoryOptions,
): EncoderMemory {
  const limit = memory?.limit;
  const room = availableMemory(memory);
  if (room === Infinity) return { tokens: Infinity, longestAnywhere: Infinity, longest: Infinity, limit };
  const count = sessionCount(sessions);
  const rowBytes = (length: number) => runBytes(sizes, { tokens: length, attended: length });
  const batchBytes = (tokens: number) => runBytes(sizes, { tokens, attended: Math.min(tokens, positions) });
  const all = rowBytes(positions) <= room / count;
  const own = all || count === 1 ? room / count : room / 2 / (count - 1);
  const large = all || count === 1 ? own : room / 2;
  const within = (bytes: number) => largestWithin(bytes, positions, rowBytes);
  return {
    tokens: largestWithin(own, Infinity, batchBytes),
    longestAnywhere: all ? Infinity : within(own),
    longest: all ? Infinity : within(large),
    limit,
  };
}

/** @throws RunError 422 for a row whose run would not fit */
export function checkLength({ longest, limit }: EncoderMemory, length: number): void {
  requireMemoryFor('text', length, longest, limit);
}
