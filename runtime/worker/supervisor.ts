import { RunError } from '../core/errors.js';
import type { LoadRequest } from '../engines/handle.js';
import type { OpenChannel } from './channel.js';
import { createEngineClient, type EngineClient, type LoadTimes } from './client.js';
import type { LoadPhase } from './protocol.js';

export type EngineState =
  | { name: 'idle' }
  | { name: 'preparing' }
  | { name: 'loading'; phase: LoadPhase }
  | { name: 'ready'; times: LoadTimes }
  | { name: 'failed'; reason: string; retryInMs: number | undefined }
  | { name: 'stopped' };

export interface Supervisor {
  readonly state: EngineState;
  /** Times that the engine had to be started again. */
  readonly restarts: number;
  readonly pid: number | undefined;
  /**
   * Prepares (downloads), starts the engine and keeps it alive. Called once. A failed preparation is tried again, ever
   * more slowly, with its error's message as the reason meanwhile.
   */
  start(prepare: () => Promise<LoadRequest>): void;
  /** The engine, once it is ready. Rejects when the load failed, when stopping, or when the signal aborts. */
  ready(signal: AbortSignal): Promise<EngineClient>;
  /** Ends a hung engine; it is started again. */
  kill(): void;
  stop(): void;
}

export interface SupervisorOptions {
  open: OpenChannel;
  /** Told of every change of state, for the log. */
  onState(state: EngineState): void;
  /** Wait before the first new attempt after a failure; doubles up to a minute. */
  backoffMs?: number;
}

const LONGEST_BACKOFF_MS = 60_000;

/** Keeps one engine process alive: a death while ready is a restart at once, a death while loading waits longer. */
export function createSupervisor({ open, onState, backoffMs = 1000 }: SupervisorOptions): Supervisor {
  let state: EngineState = { name: 'idle' };
  let client: EngineClient | undefined;
  let restarts = 0;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  const waiting = new Set<() => void>();

  function become(next: EngineState): void {
    state = next;
    onState(next);
    for (const wake of [...waiting]) wake();
  }

  async function begin(prepare: () => Promise<LoadRequest>): Promise<void> {
    become({ name: 'preparing' });
    let request: LoadRequest;
    try {
      request = await prepare();
    } catch (error) {
      return failed((error as Error).message, () => void begin(prepare));
    }
    failures = 0;
    if (!isStopped()) void spawn(request);
  }

  async function spawn(request: LoadRequest): Promise<void> {
    become({ name: 'loading', phase: 'opening' });
    const mine = createEngineClient(open);
    client = mine;
    try {
      const times = await mine.load(request, (phase) => become({ name: 'loading', phase }));
      if (state.name === 'stopped') return;
      failures = 0;
      become({ name: 'ready', times });
    } catch (error) {
      return onLoadFailure(request, mine, error as RunError);
    }
    await mine.gone;
    if (isStopped()) return;
    restarts++;
    void spawn(request);
  }

  /** A model that can't be loaded stays failed; a process that died (no memory?) is tried again. */
  function onLoadFailure(request: LoadRequest, mine: EngineClient, error: RunError): void {
    mine.kill();
    const again = () => {
      restarts++;
      void spawn(request);
    };
    failed(error.message, error.code === 'engine_crashed' ? again : undefined);
  }

  function failed(reason: string, retry: (() => void) | undefined): void {
    if (isStopped()) return;
    const retryInMs = retry && Math.min(backoffMs * 2 ** failures++, LONGEST_BACKOFF_MS);
    become({ name: 'failed', reason, retryInMs });
    if (retry) timer = setTimeout(retry, retryInMs);
  }

  const isStopped = () => state.name === 'stopped';

  return {
    get state() {
      return state;
    },
    get restarts() {
      return restarts;
    },
    get pid() {
      return client?.pid;
    },
    start: (prepare) => void begin(prepare),
    async ready(signal) {
      for (;;) {
        if (state.name === 'ready') return client!;
        if (state.name === 'failed')
          throw new RunError('not_ready', `the model is not loaded: ${state.reason}`);
        if (state.name === 'stopped') throw new RunError('not_ready', 'the server is stopping');
        signal.throwIfAborted();
        await nextChange(signal);
      }
    },
    kill: () => client?.kill(),
    stop() {
      clearTimeout(timer);
      become({ name: 'stopped' });
      client?.kill();
    },
  };

  function nextChange(signal: AbortSignal): Promise<void> {
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
}
