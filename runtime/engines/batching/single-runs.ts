import type { SessionPool } from '../sessions/session-pool.js';
import type { Tensors } from '../sessions/tensors.js';
import { createRowBatcher } from './row-batcher.js';
import { numbersOf } from './tensor-rows.js';

/**
 * Runs of a graph that no two requests share, each on the next session that is free.
 * @returns rejects with the signal's reason when that aborts before the run's turn
 */
export function createSingleRuns({
  sessions,
}: Pick<SessionPool, 'sessions'>): (feeds: Tensors, signal?: AbortSignal) => Promise<Tensors> {
  const queue = createRowBatcher<Tensors, Tensors>({
    sessions,
    limits: { tokens: 0, padding: 0 },
    lengthOf: numbersOf,
    compute: async ([feeds], run) => [await run(feeds!)],
  });
  return queue.forward;
}
