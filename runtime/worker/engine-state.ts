import type { ReadProgress } from '../core/read-progress.js';
import { RunError } from '../core/errors.js';
import type { Loaded, LoadPhase } from './protocol.js';

export type EngineState =
  | { name: 'idle' }
  | { name: 'preparing' }
  | { name: 'loading'; phase: LoadPhase; read?: ReadProgress | undefined }
  | ({ name: 'ready'; times: Pick<Loaded, 'loadMs' | 'goldenMs'> } & Pick<
      Loaded,
      'example' | 'tools' | 'placement'
    >)
  | {
      name: 'failed';
      /** Shown to callers and operators. */
      reason: string;
      /** Logged only. */
      detail: string | undefined;
      retryInMs: number | undefined;
    }
  | { name: 'stopped' };

/** Holds the state of an engine, and lets callers wait until it is ready. */
export interface StateKeeper {
  readonly current: EngineState;
  /** True after `freeze`: later changes, such as those of a dying engine, are ignored. */
  readonly isFrozen: boolean;
  set(next: EngineState): void;
  /** Ignores all further changes. */
  freeze(): void;
  /** Resolves when the engine is ready. Rejects when it failed or stopped, or when the signal aborts. */
  waitUntilReady(signal: AbortSignal): Promise<void>;
}

/** @param onState called at every change */
export function keepState(onState: (state: EngineState) => void): StateKeeper {
  let state: EngineState = { name: 'idle' };
  let isFrozen = false;
  const waiting = new Set<() => void>();
  return {
    get current() {
      return state;
    },
    get isFrozen() {
      return isFrozen;
    },
    set(next) {
      if (isFrozen) return;
      state = next;
      onState(next);
      for (const wake of [...waiting]) wake();
    },
    freeze() {
      isFrozen = true;
    },
    async waitUntilReady(signal) {
      for (;;) {
        if (state.name === 'ready') return;
        if (state.name === 'failed') throw notLoaded(state);
        if (state.name === 'stopped') throw new RunError('stopping', 'the server is stopping');
        signal.throwIfAborted();
        await nextChange(waiting, signal);
      }
    },
  };
}

/** Resolves when the function that it adds to `waiting` is called, or when the signal aborts. */
function nextChange(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      waiting.delete(wake);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    waiting.add(wake);
    signal.addEventListener('abort', wake, { once: true });
  });
}

function notLoaded({ reason, retryInMs }: Extract<EngineState, { name: 'failed' }>): RunError {
  const options = retryInMs === undefined ? {} : { retryAfter: retryInMs / 1000 };
  return new RunError('not_ready', `the model is not loaded: ${reason}`, options);
}
