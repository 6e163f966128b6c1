import { RunError } from '../core/errors.js';
import type { Resolved } from '../tasks/define.js';
import type { RunOptions } from './client.js';
import type { Supervisor } from './supervisor.js';

export interface SchedulerOptions {
  supervisor: Supervisor;
  /** Requests that the engine works on at the same time. */
  concurrency: number;
  /** Requests that may wait for a place. */
  maxQueue: number;
  /** Longest time of one request from its arrival, loading included. */
  timeoutMs: number;
  /** How long a cancelled run may keep its place before the engine is killed. */
  cancelGraceMs: number;
  /** Told when a run didn't end in time and the engine was killed. */
  onKill(): void;
}

export interface Scheduler {
  /**
   * Runs a request when a place is free and the model is ready.
   * Rejects with `overloaded` at once when the queue is full, `timeout` at the deadline, `cancelled` when the caller's
   * signal aborts. The place is given back only when the engine says that the run has ended.
   */
  run(input: Resolved<unknown>, options: RunOptions): Promise<unknown>;
  readonly running: number;
  readonly queued: number;
  /** Refuses new requests; settles when none is left. */
  drain(): Promise<void>;
}

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { supervisor, concurrency, maxQueue, timeoutMs, cancelGraceMs, onKill } = options;
  const queue: (() => void)[] = [];
  let running = 0;
  let draining = false;
  let onEmpty: () => void = () => {};

  /** Hands the place to the next in the queue, or frees it. */
  function release(): void {
    const next = queue.shift();
    if (next) return next();
    running--;
    if (running === 0) onEmpty();
  }

  /** Waits for a place in order of arrival. */
  async function acquire(signal: AbortSignal): Promise<void> {
    if (running < concurrency) running++;
    else await turn(signal);
  }

  function turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        queue.splice(queue.indexOf(go), 1);
        reject(signal.reason as Error);
      };
      // It would not say so again.
      if (signal.aborted) return reject(signal.reason as Error);
      queue.push(go);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  function admit(): void {
    if (draining) throw new RunError('not_ready', 'the server is stopping', { retryAfter: 5 });
    if (queue.length < maxQueue || running < concurrency) return;
    throw new RunError('overloaded', `${queue.length} requests are waiting already (MAX_QUEUE)`, {
      retryAfter: 2,
    });
  }

  /** Runs on the engine; when the caller leaves, the place stays taken until the engine has let go. */
  async function onEngine(input: Resolved<unknown>, { signal, ...told }: RunOptions) {
    const engine = await supervisor.ready(signal).catch((error: unknown) => {
      release();
      throw error;
    });
    const work = engine.run(input, { signal, ...told });
    let killer: NodeJS.Timeout | undefined;
    const escalate = () => {
      killer = setTimeout(() => {
        onKill();
        engine.kill();
      }, cancelGraceMs);
    };
    signal.addEventListener('abort', escalate, { once: true });
    const settled = work.finally(() => {
      clearTimeout(killer);
      signal.removeEventListener('abort', escalate);
      release();
    });
    return Promise.race([settled, rejection(signal)]);
  }

  return {
    get running() {
      return running;
    },
    get queued() {
      return queue.length;
    },
    async run(input, { signal, ...told }) {
      admit();
      const deadline = new AbortController();
      const timer = setTimeout(() => {
        const seconds = Math.round(timeoutMs / 1000);
        deadline.abort(new RunError('timeout', `not finished within ${seconds} s (REQUEST_TIMEOUT)`));
      }, timeoutMs);
      const leave = () => deadline.abort(new RunError('cancelled', 'the caller went away'));
      if (signal.aborted) leave();
      signal.addEventListener('abort', leave, { once: true });
      try {
        await acquire(deadline.signal);
        return await onEngine(input, { signal: deadline.signal, ...told });
      } catch (error) {
        throw deadline.signal.aborted ? (deadline.signal.reason as RunError) : error;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
      }
    },
    drain() {
      draining = true;
      return new Promise((resolve) => {
        onEmpty = resolve;
        if (running === 0 && queue.length === 0) resolve();
      });
    },
  };
}

/** Rejects with the signal's reason once it aborts. */
function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
