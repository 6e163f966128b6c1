import type { Lane } from '../sessions/lanes.js';
import { type BatchLimits, pickBatch } from './pick-batch.js';

export interface RowBatcher<Row, Result> {
  /**
   * Computes one row, together with others that are waiting. Rejects with the signal's reason when that aborts before
   * the row's run has begun.
   */
  forward(row: Row, signal?: AbortSignal): Promise<Result>;
}

export interface BatcherOptions<Row, Result> {
  lanes: Lane[];
  limits: BatchLimits;
  lengthOf(row: Row): number;
  /** Rows that only the first lane has memory for; they are computed there on all threads. */
  needsFirst?: ((row: Row) => boolean) | undefined;
  /** Only rows of one kind share a run; absent: all are of one. */
  kindOf?: ((row: Row) => number | string) | undefined;
  /** Computes rows in one run; gives their results in the same order. */
  compute(rows: Row[], run: Lane['run']): Promise<Result[]>;
}

interface Waiting<Row, Result> {
  row: Row;
  length: number;
  kind: number | string | undefined;
  needsFirst: boolean;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Where concurrent requests meet: what queues while the lanes are busy is the next batch. Nothing waits for company:
 * a row that finds a free lane runs at once.
 */
export function createRowBatcher<Row, Result>(options: BatcherOptions<Row, Result>): RowBatcher<Row, Result> {
  const { limits, lengthOf, kindOf, needsFirst, compute } = options;
  const idle = [...options.lanes];
  const first = options.lanes[0]!;
  const queue = new Set<Waiting<Row, Result>>();
  let scheduled = false;

  /** After the messages that have arrived already, which bring more rows. */
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      while (idle.length > 0 && start());
    });
  }

  /** False: nothing can be started now. */
  function start(): boolean {
    const firstIsIdle = idle.includes(first);
    const waiting = [...queue].filter(({ needsFirst }) => firstIsIdle || !needsFirst);
    if (waiting.length === 0) return false;
    const all = waiting.reduce((sum, { length }) => sum + length, 0);
    // A short queue is shared among the free lanes rather than put into one run.
    const share = idle.length > 1 ? Math.ceil(all / idle.length / (1 - limits.padding)) : Infinity;
    const oldest = waiting[0]!;
    const batch = oldest.needsFirst
      ? [oldest]
      : pickBatch(
          waiting.filter(({ needsFirst }) => !needsFirst),
          { ...limits, tokens: Math.min(limits.tokens, share) },
        );
    for (const item of batch) queue.delete(item);
    const alone = batch.length === 1 && queue.size === 0 && idle.length === options.lanes.length;
    const wide = alone || oldest.needsFirst;
    const lane = takeLane(oldest.needsFirst ? first : alone ? wideLane() : undefined);
    void runBatch(batch, (wide && lane.runWide) || lane.run).finally(() => {
      idle.push(lane);
      if (queue.size > 0) schedule();
    });
    return true;
  }

  const wideLane = () => idle.find((lane) => lane.runWide);

  function takeLane(wanted: Lane | undefined): Lane {
    return idle.splice(Math.max(0, idle.indexOf(wanted!)), 1)[0]!;
  }

  /** A run that fails is tried row by row, so that one bad row fails nobody else's request. */
  async function runBatch(batch: Waiting<Row, Result>[], run: Lane['run']): Promise<void> {
    try {
      const results = await compute(
        batch.map(({ row }) => row),
        run,
      );
      batch.forEach(({ resolve }, i) => resolve(results[i]!));
    } catch (error) {
      if (batch.length === 1) batch[0]!.reject(error);
      else for (const item of batch) await runBatch([item], run);
    }
  }

  return {
    forward(row, signal) {
      signal?.throwIfAborted();
      return new Promise((resolve, reject) => {
        const leave = () => {
          if (queue.delete(item)) reject(signal!.reason as Error);
        };
        const item: Waiting<Row, Result> = {
          row,
          length: lengthOf(row),
          kind: kindOf?.(row),
          needsFirst: needsFirst?.(row) ?? false,
          resolve(result) {
            signal?.removeEventListener('abort', leave);
            resolve(result);
          },
          reject(error) {
            signal?.removeEventListener('abort', leave);
            reject(error);
          },
        };
        signal?.addEventListener('abort', leave, { once: true });
        queue.add(item);
        schedule();
      });
    },
  };
}
