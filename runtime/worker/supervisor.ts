import type { RowCounts } from '../core/row-counts.js';
import { describe, type RunError } from '../core/errors.js';
import type { LoadRequest } from '../core/load-request.js';
import type { OpenChannel } from './channel.js';
import { createEngineClient, type EngineClient } from './client.js';
import { type EngineState, keepState } from './engine-state.js';
import type { OnPhase } from './protocol.js';

export interface Supervisor {
  readonly state: EngineState;
  /** How many times the engine was restarted. */
  readonly restarts: number;
  /** Graph runs started by all engine processes together. */
  readonly graphRuns: number;
  readonly pid: number | undefined;
  /**
   * Prepares (downloads), starts the engine and keeps it running. Called once. A failed preparation is retried with
   * growing delays; until then, its error message is the reason of the failed state.
   */
  start(prepare: Prepare): void;
  /** Resolves with the engine when it is ready. Rejects when loading failed, when stopping, or when the signal aborts. */
  ready(signal: AbortSignal): Promise<EngineClient>;
  /** Ends the engine permanently, because its model must not be used. Callers get the error's message. */
  refuse(error: Error): void;
  /** Ends the engine and a running preparation; resolves when the preparation has cleaned up. */
  stop(): Promise<void>;
}

/** Fetches what the engine loads; ends soon after the signal aborts. Error messages are shown to callers. */
export type Prepare = (signal: AbortSignal) => Promise<LoadRequest>;

export interface SupervisorOptions {
  open: OpenChannel;
  /** Called at every change of state, for the log. */
  onState(state: EngineState): void;
  /** Told how many rows runs of the model had. */
  onRows?: ((counts: RowCounts) => void) | undefined;
  /** Delay before the first retry; doubles up to a minute. */
  backoffMs?: number;
}

const MAX_BACKOFF_MS = 60_000;
/** A process that ends sooner than this after it was ready counts as a quick death. */
const STABLE_MS = 30_000;
/** After this many quick deaths in a row, restarts are delayed. */
const QUICK_DEATHS = 5;

/**
 * Keeps one engine process running. A process that dies when ready is restarted at once, unless that happens
 * repeatedly; after a death while loading, the restart is delayed.
 */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { open, onState, onRows, backoffMs = 1000 } = options;
  const state = keepState(onState);
  let client: EngineClient | undefined;
  let restarts = 0;
  const runs = createRunCounter();
  let failures = 0;
  let quickDeaths = 0;
  let timer: NodeJS.Timeout | undefined;
  let preparing: Promise<void> | undefined;
  const stopping = new AbortController();

  const begin = (prepare: Prepare): void => void (preparing = prepareAndSpawn(prepare));
  const onPhase: OnPhase = (phase, read) => state.set({ name: 'loading', phase, read });

  async function prepareAndSpawn(prepare: Prepare): Promise<void> {
    state.set({ name: 'preparing' });
    let request: LoadRequest;
    try {
      request = await prepare(stopping.signal);
    } catch (error) {
      return fail(error as Error, () => begin(prepare));
    }
    failures = 0;
    if (!state.isFrozen) void spawn(request);
  }

  async function spawn(request: LoadRequest): Promise<void> {
    state.set({ name: 'loading', phase: 'opening' });
    const engine = createEngineClient(open, onRows);
    client = runs.follow(engine);
    try {
      const { loadMs, goldenMs, ...told } = await engine.load(request, onPhase);
      if (state.isFrozen) return;
      if (quickDeaths < QUICK_DEATHS) failures = 0;
      state.set({ name: 'ready', times: { loadMs, goldenMs }, ...told });
    } catch (error) {
      return onLoadFailure(request, engine, error as RunError);
    }
    const since = performance.now();
    const reason = await engine.ended;
    if (state.isFrozen) return;
    quickDeaths = performance.now() - since < STABLE_MS ? quickDeaths + 1 : 0;
    if (quickDeaths < QUICK_DEATHS) return restart(request);
    // Restarting at once would use up the machine while every caller waits in vain.
    fail(new Error(`the model process ${reason}, ${quickDeaths} times soon after it was ready`), () =>
      restart(request),
    );
  }

  function restart(request: LoadRequest): void {
    restarts++;
    void spawn(request);
  }

  /** A model that can't be loaded stays failed; a process that died, maybe for lack of memory, is restarted later. */
  function onLoadFailure(request: LoadRequest, engine: EngineClient, error: RunError): void {
    engine.kill();
    fail(error, error.code === 'engine_crashed' ? () => restart(request) : undefined);
  }

  function fail({ message, cause }: Error, retry: (() => void) | undefined): void {
    if (state.isFrozen) return;
    const retryInMs = retry && Math.min(backoffMs * 2 ** failures++, MAX_BACKOFF_MS);
    const detail = cause === undefined ? undefined : describe(cause);
    state.set({ name: 'failed', reason: message, detail, retryInMs });
    if (retry) timer = setTimeout(retry, retryInMs);
  }

  function end(setLastState: () => void): void {
    clearTimeout(timer);
    setLastState();
    state.freeze();
    client?.kill();
  }

  return {
    get state() {
      return state.current;
    },
    get restarts() {
      return restarts;
    },
    get graphRuns() {
      return runs.total();
    },
    get pid() {
      return client?.pid;
    },
    start: begin,
    async ready(signal) {
      await state.waitUntilReady(signal);
      return client!;
    },
    refuse: (error) => end(() => fail(error, undefined)),
    stop() {
      end(() => state.set({ name: 'stopped' }));
      stopping.abort(new Error('the server is stopping'));
      return preparing ?? Promise.resolve();
    },
  };
}

/** Sums the graph runs of consecutive engines. */
function createRunCounter() {
  let earlier = 0;
  let engine: EngineClient | undefined;
  const total = () => earlier + (engine?.graphRuns ?? 0);
  return {
    total,
    follow(next: EngineClient): EngineClient {
      earlier = total();
      engine = next;
      return next;
    },
  };
}
