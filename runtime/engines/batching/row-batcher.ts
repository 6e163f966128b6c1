import type { PooledSession } from '../sessions/session-pool.js';
import { type BatchLimits, pickBatch } from './pick-batch.js';
import { countRows } from './row-counts.js';

export interface RowBatcher<Row, Result> {
  /**
   * Computes one row, together with others that are waiting. Rejects with the signal's reason when that aborts before
   * the row's run has begun.
   */
  forward(row: Row, signal?: AbortSignal): Promise<Result>;
}

export interface BatcherOptions<Row, Result> {
  sessions: PooledSession[];
  limits: BatchLimits;
  lengthOf(row: Row): number;
  /** Rows that only the first session has memory for; they are computed there on all threads. */
  needsFirst?: ((row: Row) => boolean) | undefined;
  /** Only rows of one group share a run; absent: all do. */
  groupOf?: ((row: Row) => number | string) | undefined;
  /** Computes rows in one run; gives their results in the same order. */
  compute(rows: Row[], run: PooledSession['run']): Promise<Result[]>;
}

interface Waiting<Row, Result> {
  row: Row;
  length: number;
  group: number | string | undefined;
  needsFirst: boolean;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Where concurrent requests meet: what queues while the sessions are busy is the next batch. Nothing waits for company:
 * a row that finds a free session runs at once.
 */
export function createRowBatcher<Row, Result>(options: BatcherOptions<Row, Result>): RowBatcher<Row, Result> {
  const { limits, lengthOf, groupOf, needsFirst, compute } = options;
  const idle = [...options.sessions];
  const first = options.sessions[0]!;
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
    // A short queue is shared among the free sessions rather than put into one run.
    const share = idle.length > 1 ? Math.ceil(all / idle.length / (1 - limits.padding)) : Infinity;
    const oldest = waiting[0]!;
    const batch = oldest.needsFirst
      ? [oldest]
      : pickBatch(
          waiting.filter(({ needsFirst }) => !needsFirst),
          { ...limits, tokens: Math.min(limits.tokens, share) },
        );
    for (const item of batch) queue.delete(item);
    const alone = batch.length === 1 && queue.size === 0 && idle.length === options.sessions.length;
    const wide = alone || oldest.needsFirst;
    const session = takeSession(oldest.needsFirst ? first : alone ? wideSession() : undefined);
    void runBatch(batch, (wide && session.runWide) || session.run).finally(() => {
      idle.push(session);
      if (queue.size > 0) schedule();
    });
    return true;
  }

  const wideSession = () => idle.find((session) => session.runWide);

  function takeSession(wanted: PooledSession | undefined): PooledSession {
    return idle.splice(Math.max(0, idle.indexOf(wanted!)), 1)[0]!;
  }

  /** A run that fails is tried row by row, so that one bad row fails nobody else's request. */
  async function runBatch(batch: Waiting<Row, Result>[], run: PooledSession['run']): Promise<void> {
    countRows(batch.length);
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
          group: groupOf?.(row),
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
