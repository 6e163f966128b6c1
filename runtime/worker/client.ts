import type { RowCounts } from '../core/row-counts.js';
import type { Delta } from '../core/delta.js';
import { fromWireError, RunError } from '../core/errors.js';
import type { Progress } from '../core/progress.js';
import type { Usage } from '../core/usage.js';
import type { LoadRequest } from '../core/load-request.js';
import type { Resolved } from '../tasks/define.js';
import type { OpenChannel } from './channel.js';
import type { FromEngine, Loaded, OnPhase } from './protocol.js';

export interface RunOptions {
  /** Aborting it makes the engine end the run after the current step, with a `cancelled` error. */
  signal: AbortSignal;
  /** Called with pieces of the answer as they are made. */
  onDelta?: (delta: Delta) => void;
  /** Called when the steps begin and after each one, if the task tells them. */
  onStep?: (progress: Progress) => void;
  /** Called before the output, if the model counts tokens. */
  onUsage?: (usage: Usage) => void;
}

/** The parent's client of one engine. When the engine dies, every open call rejects with `engine_crashed`. */
export interface EngineClient {
  load(request: LoadRequest, onPhase: OnPhase): Promise<Loaded>;
  run(input: Resolved<unknown>, options: RunOptions): Promise<unknown>;
  kill(): void;
  /** Graph runs that the engine has started, as last reported. */
  readonly graphRuns: number;
  /** Resolves with the reason when the engine has ended. */
  readonly ended: Promise<string>;
  readonly pid: number | undefined;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: RunError): void;
  callbacks: Pick<RunOptions, 'onDelta' | 'onStep' | 'onUsage'>;
}

/** @param onRows told how many rows the engine's runs had */
export function createEngineClient(
  open: OpenChannel,
  onRows: (counts: RowCounts) => void = () => {},
): EngineClient {
  const runs = new Map<number, Pending>();
  let nextId = 1;
  let graphRuns = 0;
  let loading: { resolve(loaded: Loaded): void; reject(error: RunError): void } | undefined;
  let onPhase: OnPhase = () => {};
  let resolveEnded: (reason: string) => void;
  const ended = new Promise<string>((resolve) => (resolveEnded = resolve));
  let endReason: string | undefined;

  const crashed = (reason: string) =>
    new RunError('engine_crashed', `the model process ${reason}; try again`);

  const settle = (id: number, finish: (run: Pending) => void): void => {
    const run = runs.get(id);
    runs.delete(id);
    if (run) finish(run);
  };

  function onMessage(message: FromEngine): void {
    switch (message.type) {
      case 'progress':
        return onPhase(message.phase, message.read);
      case 'ready':
        return loading?.resolve(message);
      case 'runs':
        graphRuns = message.runs;
        return;
      case 'rows':
        return onRows(message.counts);
      case 'load_failed':
        return loading?.reject(fromWireError(message.error));
      case 'delta':
        return runs.get(message.id)?.callbacks.onDelta?.(message.delta);
      case 'step':
        return runs.get(message.id)?.callbacks.onStep?.(message.progress);
      case 'done':
        return settle(message.id, (run) => {
          if (message.usage) run.callbacks.onUsage?.(message.usage);
          run.resolve(message.output);
        });
      case 'failed':
        return settle(message.id, (run) => run.reject(fromWireError(message.error)));
    }
  }

  function onExit(reason: string): void {
    endReason = reason;
    loading?.reject(crashed(reason));
    for (const id of [...runs.keys()]) settle(id, (run) => run.reject(crashed(reason)));
    resolveEnded(reason);
  }

  const channel = open({ onMessage, onExit });
  return {
    ended,
    pid: channel.pid,
    get graphRuns() {
      return graphRuns;
    },
    kill: () => channel.kill(),
    load(request, phase) {
      onPhase = phase;
      channel.send({ type: 'load', request });
      return new Promise((resolve, reject) => (loading = { resolve, reject }));
    },
    async run(input, { signal, ...callbacks }) {
      if (endReason !== undefined) throw crashed(endReason);
      signal.throwIfAborted();
      const id = nextId++;
      channel.send({ type: 'run', id, input, deltas: callbacks.onDelta !== undefined });
      const cancel = () => channel.send({ type: 'cancel', id });
      signal.addEventListener('abort', cancel, { once: true });
      const result = new Promise((resolve, reject) => runs.set(id, { resolve, reject, callbacks }));
      return result.finally(() => signal.removeEventListener('abort', cancel));
    },
  };
}
