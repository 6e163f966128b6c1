import { RunError } from '../core/errors.js';
import type { Loaded, LoadPhase } from './protocol.js';

export type EngineState =
  | { name: 'idle' }
  | { name: 'preparing' }
  | { name: 'loading'; phase: LoadPhase }
  | { name: 'ready'; times: Omit<Loaded, 'example'>; example: Loaded['example'] }
  | {
      name: 'failed';
      /** For callers and operators. */
      reason: string;
      /** For the log only. */
      detail: string | undefined;
      retryInMs: number | undefined;
    }
  | { name: 'stopped' };

/** Where an engine stands, and those who wait until it is ready. */
export interface StateKeeper {
  readonly now: EngineState;
  /** Nothing follows any more, whatever an engine on its way out still says. */
  readonly over: boolean;
  become(next: EngineState): void;
  /** The state stays as it is from now on. */
  freeze(): void;
  /** Resolves once the engine is ready. Rejects when it has failed or stopped, or when the signal aborts. */
  untilReady(signal: AbortSignal): Promise<void>;
}

/** @param onState told of every change */
export function keepState(onState: (state: EngineState) => void): StateKeeper {
  let state: EngineState = { name: 'idle' };
  let over = false;
  const waiting = new Set<() => void>();
  return {
    get now() {
      return state;
    },
    get over() {
      return over;
    },
    become(next) {
      if (over) return;
      state = next;
      onState(next);
      for (const wake of [...waiting]) wake();
    },
    freeze() {
      over = true;
    },
    async untilReady(signal) {
      for (;;) {
        if (state.name === 'ready') return;
        if (state.name === 'failed') throw notLoaded(state);
        if (state.name === 'stopped') throw new RunError('not_ready', 'the server is stopping');
        signal.throwIfAborted();
        await nextChange(waiting, signal);
      }
    },
  };
}

/** Waits until one of `waiting` is called, or until the signal aborts. */
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
