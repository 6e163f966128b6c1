import { createRowBatcher } from './row-batcher.js';
import { findTensorLimits } from './tensor-limits.js';
import { watchMemory } from './watch-memory.js';
import { numbersOf, shapeKey, splitRows, stackRows } from './tensor-rows.js';
import type { LoadRequest } from '../../core/load-request.js';
import type { Tensors } from '../sessions/tensors.js';
import type { PooledSession, SessionPool } from '../sessions/session-pool.js';
import { MIN_AVAILABLE, availableMemory } from '../sessions/available-memory.js';

/** A graph that answers each row of tensors in one run: pictures, sounds, frames. */
export interface TensorEncoder {
  /**
   * Computes one row (first axes of 1), in a run with others of its shape where that changes no answer. The row's memory
   * is handed over. Rejects with the signal's reason when that aborts before the row's turn.
   */
  forward(row: Tensors, signal?: AbortSignal): Promise<Tensors>;
  /** Bytes that are left beside the runs of all sessions: for what rows are made of. */
  readonly availableBytes: number;
}

export interface EncoderSetup {
  /** A row of usual size, as a request would give it. */
  sample(seed: number): Tensors;
  memory: LoadRequest['memory'];
}

/** Tries what the graph does with several rows, and what its runs keep of the memory. */
export async function createTensorEncoder(
  { sessions }: Pick<SessionPool, 'sessions'>,
  { sample, memory }: EncoderSetup,
): Promise<TensorEncoder> {
  const compute = async (rows: Tensors[], run: PooledSession['run']) =>
    splitRows(await run(stackRows(rows)), rows);
  const sessionCount = sessions.length + sessions.filter(({ runWide }) => runWide).length;
  // Each session keeps the memory of its largest run.
  const { runBytes, mayDouble } = watchMemory(memory, sessionCount);
  const limits = await findTensorLimits({
    compute: (rows) => compute(rows, sessions[0]!.run),
    sample,
    mayDouble,
  });
  const batcher = createRowBatcher<Tensors, Tensors>({
    ...{ sessions, limits, compute },
    lengthOf: numbersOf,
    groupOf: shapeKey,
  });
  return {
    forward: batcher.forward,
    availableBytes: Math.max(MIN_AVAILABLE, availableMemory(memory) - runBytes() * (sessionCount - 1)),
  };
}
