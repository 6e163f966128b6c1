import { findLimits } from './batch-limits.js';
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
  /** Bytes that are left beside the runs of all sessions: for what rows are made of. To be asked after a first run. */
  readonly availableBytes: number;
}

export interface EncoderSetup {
  /** A row of usual size, as a request would give it. */
  sample(seed: number): Tensors;
  memory: LoadRequest['memory'];
}

/**
 * Tries what the graph does with several rows, and what its runs keep of the memory. Where the pool defers work, rows run
 * alone until that has been done.
 */
export async function createTensorEncoder(
  { sessions, defer }: Pick<SessionPool, 'sessions' | 'defer'>,
  { sample, memory }: EncoderSetup,
): Promise<TensorEncoder> {
  const compute = async (rows: Tensors[], run: PooledSession['run']) =>
    splitRows(await run(stackRows(rows)), rows);
  const sessionCount = sessions.length + sessions.filter(({ runWide }) => runWide).length;
  // Each session keeps the memory of its largest run.
  const { runBytes } = watchMemory(memory, sessionCount);
  const find = () =>
    findTensorLimits({
      compute: (rows) => compute(rows, sessions[0]!.run),
      sample,
      mayDouble: watchMemory(memory, sessionCount).mayDouble,
    });
  const limits = await findLimits(find, defer);
  const batcher = createRowBatcher<Tensors, Tensors>({
    ...{ sessions, limits, compute },
    lengthOf: numbersOf,
    groupOf: shapeKey,
  });
  const left = () => availableMemory(memory) - runBytes() * (sessionCount - 1);
  const tried = defer ? undefined : left();
  return {
    forward: batcher.forward,
    get availableBytes() {
      return Math.max(MIN_AVAILABLE, tried ?? left());
    },
  };
}
