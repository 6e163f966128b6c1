import { findLimits } from './batch-limits.js';
import { createRowBatcher } from './row-batcher.js';
import { type RunRoom, runRoom, sessionCount } from './run-room.js';
import { findTensorLimits } from './tensor-limits.js';
import { watchMemory } from './watch-memory.js';
import { numbersOf, shapeKey, splitRows, stackRows } from './tensor-rows.js';
import type { LoadRequest } from '../../core/load-request.js';
import type { Tensors } from '../sessions/tensors.js';
import type { PooledSession, SessionPool } from '../sessions/session-pool.js';
import { MIN_AVAILABLE, availableMemory } from '../sessions/available-memory.js';

/** A graph that answers each row of tensors in one run: images, audio clips, frames. */
export interface TensorEncoder {
  /**
   * Computes one row (first axes of 1), in a run with others of its shape where that changes no answer. The row's memory
   * is handed over. Rejects with the signal's reason when that aborts before the row's turn.
   * @param bytes that its run takes, where rows differ in that: large ones are computed one at a time
   */
  forward(row: Tensors, signal?: AbortSignal, bytes?: number): Promise<Tensors>;
  /** Bytes that are left beside the runs of all sessions: for what rows are made of. To be asked after a first run. */
  readonly availableBytes: number;
  /** Bytes of the largest run that there is room for; what is larger is to be refused. */
  readonly largestRun: number;
}

export interface EncoderSetup {
  /** A row of usual size, as a request would give it. */
  sample(seed: number): Tensors;
  memory: LoadRequest['memory'];
  /** Bytes of the run of a row of usual size, where rows differ in that: such a row always has room. Asked where memory is limited. */
  usualBytes?(): number;
}

/**
 * Tries what the graph does with several rows, and what its runs keep of the memory. Where the pool defers work, rows run
 * alone until that has been done.
 */
export async function createTensorEncoder(
  { sessions, defer }: Pick<SessionPool, 'sessions' | 'defer'>,
  { sample, memory, usualBytes = () => 0 }: EncoderSetup,
): Promise<TensorEncoder> {
  const compute = async (rows: Tensors[], run: PooledSession['run']) =>
    splitRows(await run(stackRows(rows)), rows);
  const count = sessionCount(sessions);
  const { runBytes } = watchMemory(memory, count);
  const find = () =>
    findTensorLimits({
      compute: (rows) => compute(rows, sessions[0]!.run),
      sample,
      mayDouble: watchMemory(memory, count).mayDouble,
    });
  const limits = await findLimits(find, defer);
  const left = () => Math.max(MIN_AVAILABLE, availableMemory(memory) - runBytes() * (count - 1));
  const tried = defer ? undefined : left();
  let shared: RunRoom | undefined;
  const room = () => (shared ??= runRoom(sessions, tried ?? left(), usualBytes));
  const batcher = createRowBatcher<SizedRow, Tensors>({
    ...{ sessions, limits },
    compute: (rows, run) =>
      compute(
        rows.map(({ tensors }) => tensors),
        run,
      ),
    needsFirst: ({ bytes }) => bytes > room().anywhere,
    lengthOf: ({ tensors }) => numbersOf(tensors),
    groupOf: ({ tensors }) => shapeKey(tensors),
  });
  return {
    forward: (tensors, signal, bytes = 0) => batcher.forward({ tensors, bytes }, signal),
    get availableBytes() {
      return tried ?? left();
    },
    get largestRun() {
      return room().first;
    },
  };
}

interface SizedRow {
  tensors: Tensors;
  bytes: number;
}
