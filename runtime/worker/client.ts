import { fromWireError, RunError } from '../core/errors.js';
import type { Usage } from '../core/usage.js';
import type { LoadRequest } from '../core/load-request.js';
import type { Resolved } from '../tasks/define.js';
import type { OpenChannel } from './channel.js';
import type { FromEngine, Loaded, LoadPhase } from './protocol.js';

export interface RunOptions {
  /** Asks the engine to stop; the run then ends with a `cancelled` error within one step. */
  signal: AbortSignal;
  onDelta?: (text: string) => void;
  /** Told before the output what it came to, where the model counts. */
  onUsage?: (usage: Usage) => void;
}

/** The parent's side of one engine. When the engine dies, every open call rejects with `engine_crashed`. */
export interface EngineClient {
  load(request: LoadRequest, onPhase: (phase: LoadPhase) => void): Promise<Loaded>;
  run(input: Resolved<unknown>, options: RunOptions): Promise<unknown>;
  kill(): void;
  /** Runs of its graphs that the engine has begun, as far as it has told. */
  readonly graphRuns: number;
  /** Settles with the reason when the engine is gone. */
  readonly gone: Promise<string>;
  readonly pid: number | undefined;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: RunError): void;
  told: Pick<RunOptions, 'onDelta' | 'onUsage'>;
}

export function createEngineClient(open: OpenChannel): EngineClient {
  const runs = new Map<number, Pending>();
  let nextId = 1;
  let graphRuns = 0;
  let loading: { resolve(loaded: Loaded): void; reject(error: RunError): void } | undefined;
  let onPhase: (phase: LoadPhase) => void = () => {};
  let leave: (reason: string) => void;
  const gone = new Promise<string>((resolve) => (leave = resolve));
  let dead: string | undefined;

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
        return onPhase(message.phase);
      case 'ready':
        return loading?.resolve(message);
      case 'runs':
        graphRuns = message.runs;
        return;
      case 'load_failed':
        return loading?.reject(fromWireError(message.error));
      case 'delta':
        return runs.get(message.id)?.told.onDelta?.(message.text);
      case 'done':
        return settle(message.id, (run) => {
          if (message.usage) run.told.onUsage?.(message.usage);
          run.resolve(message.output);
        });
      case 'failed':
        return settle(message.id, (run) => run.reject(fromWireError(message.error)));
    }
  }

  function onExit(reason: string): void {
    dead = reason;
    loading?.reject(crashed(reason));
    for (const id of [...runs.keys()]) settle(id, (run) => run.reject(crashed(reason)));
    leave(reason);
  }

  const channel = open({ onMessage, onExit });
  return {
    gone,
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
    async run(input, { signal, ...told }) {
      if (dead !== undefined) throw crashed(dead);
      signal.throwIfAborted();
      const id = nextId++;
      channel.send({ type: 'run', id, input, deltas: told.onDelta !== undefined });
      const cancel = () => channel.send({ type: 'cancel', id });
      signal.addEventListener('abort', cancel, { once: true });
      const result = new Promise((resolve, reject) => runs.set(id, { resolve, reject, told }));
      return result.finally(() => signal.removeEventListener('abort', cancel));
    },
  };
}
