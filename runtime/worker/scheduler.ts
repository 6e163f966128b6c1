import { RunError } from '../core/errors.js';
import type { Resolved } from '../tasks/define.js';
import type { RunOptions } from './client.js';
import type { Supervisor } from './supervisor.js';

export interface SchedulerOptions {
  supervisor: Supervisor;
  /** Most requests that the engine runs at the same time. */
  concurrency: number;
  /** Most requests waiting for a slot. */
  maxQueue: number;
  /** Longest time of a request from its arrival, loading included. */
  timeoutMs: number;
  /** How long a cancelled run may keep its slot before the engine is killed. */
  cancelGraceMs: number;
  /** Called when a cancelled run has not ended in time and the engine is killed. */
  onKill(): void;
  /** Told of each request that the engine begins with how long it has waited for that. */
  onBegin?(waitedMs: number): void;
}

export interface Scheduler {
  /**
   * Runs a request when a slot is free and the model is ready.
   * Rejects with `overloaded` at once when the queue is full, `timeout` at the deadline, `cancelled` when the caller's
   * signal aborts. The slot is released only when the engine reports the end of the run.
   */
  run(input: Resolved<unknown>, options: RunOptions): Promise<unknown>;
  readonly running: number;
  readonly queued: number;
  /** Refuses new requests and those that the engine has not begun with; resolves when all others have ended. */
  drain(): Promise<void>;
}

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { supervisor, concurrency, maxQueue, timeoutMs, cancelGraceMs, onKill } = options;
  const queue: (() => void)[] = [];
  /** Requests that the engine has not begun with. */
  const waiting = new Set<AbortController>();
  let running = 0;
  let draining = false;
  let onEmpty: () => void = () => {};

  /** Passes the slot on to the next in the queue, or frees it. */
  function release(): void {
    const next = queue.shift();
    if (next) return next();
    running--;
    if (running === 0) onEmpty();
  }

  /** Waits for a slot, first in, first out. */
  async function acquire(signal: AbortSignal): Promise<void> {
    if (running < concurrency) running++;
    else await waitInQueue(signal);
  }

  function waitInQueue(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const grant = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = () => {
        queue.splice(queue.indexOf(grant), 1);
        reject(signal.reason as Error);
      };
      // A signal that was aborted before emits no event.
      if (signal.aborted) return reject(signal.reason as Error);
      queue.push(grant);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  function admit(): void {
    if (draining) throw stoppingError();
    if (queue.length < maxQueue || running < concurrency) return;
    throw new RunError('overloaded', `${queue.length} requests are waiting already (MAX_QUEUE)`, {
      retryAfter: 2,
    });
  }

  /** Runs on the engine. When the caller leaves, the slot stays taken until the engine has ended the run. */
  async function runOnEngine(
    input: Resolved<unknown>,
    { signal, onBegin, ...callbacks }: RunOptions & { onBegin(): void },
  ) {
    const engine = await supervisor.ready(signal).catch((error: unknown) => {
      release();
      throw error;
    });
    onBegin();
    const work = engine.run(input, { signal, ...callbacks });
    let killTimer: NodeJS.Timeout | undefined;
    const startKillTimer = () => {
      killTimer = setTimeout(() => {
        onKill();
        engine.kill();
      }, cancelGraceMs);
    };
    signal.addEventListener('abort', startKillTimer, { once: true });
    const settled = work.finally(() => {
      clearTimeout(killTimer);
      signal.removeEventListener('abort', startKillTimer);
      release();
    });
    return Promise.race([settled, rejectOnAbort(signal)]);
  }

  return {
    get running() {
      return running;
    },
    get queued() {
      return queue.length;
    },
    async run(input, { signal, ...callbacks }) {
      admit();
      const { deadline, close } = openDeadline(signal, timeoutMs);
      waiting.add(deadline);
      const arrived = performance.now();
      const onBegin = () => {
        waiting.delete(deadline);
        options.onBegin?.(performance.now() - arrived);
      };
      try {
        await acquire(deadline.signal);
        return await runOnEngine(input, { signal: deadline.signal, onBegin, ...callbacks });
      } catch (error) {
        throw deadline.signal.aborted ? (deadline.signal.reason as RunError) : error;
      } finally {
        waiting.delete(deadline);
        close();
      }
    },
    drain() {
      draining = true;
      for (const request of waiting) request.abort(stoppingError());
      return new Promise((resolve) => {
        onEmpty = resolve;
        if (running === 0 && queue.length === 0) resolve();
      });
    },
  };
}

/** Aborts when the caller leaves or the time is over, until it is closed. */
function openDeadline(signal: AbortSignal, timeoutMs: number) {
  const deadline = new AbortController();
  const timer = setTimeout(() => {
    const seconds = Math.round(timeoutMs / 1000);
    deadline.abort(new RunError('timeout', `not finished within ${seconds} s (REQUEST_TIMEOUT)`));
  }, timeoutMs);
  const onAbort = () => deadline.abort(new RunError('cancelled', 'the caller went away'));
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  const close = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  };
  return { deadline, close };
}

function stoppingError(): RunError {
  return new RunError('stopping', 'the server is stopping', { retryAfter: 5 });
}

/** Rejects with the abort reason when the signal aborts. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
