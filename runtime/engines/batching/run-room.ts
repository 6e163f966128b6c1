import type { PooledSession } from '../sessions/session-pool.js';

/** Bytes that one run may take: in any session, and in the first one, where what is larger is computed one at a time. */
export interface RunRoom {
  anywhere: number;
  first: number;
}

/** Of sessions, each of which keeps the memory of its largest run. */
export const sessionCount = (sessions: readonly PooledSession[]): number =>
  sessions.length + sessions.filter(({ runWide }) => runWide).length;

/**
 * Shares memory among sessions: half of it is the first one's, for large rows. Where a row of usual size needs more than that, all
 * rows are the first session's.
 * @param bytes for the runs of all sessions together
 * @param usualBytes of a run of usual size, for which there is always room; asked where memory is limited
 */
export function runRoom(
  sessions: readonly PooledSession[],
  bytes: number,
  usualBytes: () => number,
): RunRoom {
  const others = sessionCount(sessions) - 1;
  if (bytes === Infinity) return { anywhere: Infinity, first: Infinity };
  const usual = usualBytes();
  if (others === 0) return { anywhere: bytes, first: Math.max(bytes, usual) };
  const half = bytes / 2;
  if (usual > half) return { anywhere: 0, first: Math.max(bytes, usual) };
  return { anywhere: half / others, first: half };
}
