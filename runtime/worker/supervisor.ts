import { describe, type RunError } from '../core/errors.js';
import type { LoadRequest } from '../core/load-request.js';
import type { OpenChannel } from './channel.js';
import { createEngineClient, type EngineClient } from './client.js';
import { type EngineState, keepState } from './engine-state.js';
import type { LoadPhase } from './protocol.js';

export interface Supervisor {
  readonly state: EngineState;
  /** Times that the engine had to be started again. */
  readonly restarts: number;
  /** Runs of its graphs that all engines together have begun. */
  readonly graphRuns: number;
  readonly pid: number | undefined;
  /**
   * Prepares (downloads), starts the engine and keeps it alive. Called once. A failed preparation is tried again, ever
   * more slowly, with its error's message as the reason meanwhile.
   */
  start(prepare: Prepare): void;
  /** The engine, once it is ready. Rejects when the load failed, when stopping, or when the signal aborts. */
  ready(signal: AbortSignal): Promise<EngineClient>;
  /** Ends the engine for good, with the reason that callers get: what it has loaded must not be used. */
  refuse(error: Error): void;
  /** Ends the engine, and the preparation if there is one; settles when that has tidied up. */
  stop(): Promise<void>;
}

/** Fetches what the engine loads; lets go soon after the signal aborts. An error's message is for callers, too. */
export type Prepare = (signal: AbortSignal) => Promise<LoadRequest>;

export interface SupervisorOptions {
  open: OpenChannel;
  /** Told of every change of state, for the log. */
  onState(state: EngineState): void;
  /** Wait before the first new attempt after a failure; doubles up to a minute. */
  backoffMs?: number;
}

const LONGEST_BACKOFF_MS = 60_000;
/** A process that dies sooner after it was ready has died of itself, not of time. */
const STABLE_MS = 30_000;
/** So many such deaths in a row are started again at once. */
const QUICK_DEATHS = 5;

/**
 * Keeps one engine process alive: a death while ready is a restart at once, unless it
 * happens again and again; a death while loading waits longer.
 */
export function createSupervisor({ open, onState, backoffMs = 1000 }: SupervisorOptions): Supervisor {
  const state = keepState(onState);
  let client: EngineClient | undefined;
  let restarts = 0;
  const runs = sumOfRuns();
  let failures = 0;
  let quickDeaths = 0;
  let timer: NodeJS.Timeout | undefined;
  let preparing: Promise<void> | undefined;
  const stopping = new AbortController();

  const begin = (prepare: Prepare): void => void (preparing = prepareAndSpawn(prepare));
  const onPhase = (phase: LoadPhase): void => state.become({ name: 'loading', phase });

  async function prepareAndSpawn(prepare: Prepare): Promise<void> {
    state.become({ name: 'preparing' });
    let request: LoadRequest;
    try {
      request = await prepare(stopping.signal);
    } catch (error) {
      return failed(error as Error, () => begin(prepare));
    }
    failures = 0;
    if (!state.over) void spawn(request);
  }

  async function spawn(request: LoadRequest): Promise<void> {
    state.become({ name: 'loading', phase: 'opening' });
    const mine = createEngineClient(open);
    client = runs.follow(mine);
    try {
      const { loadMs, goldenMs, example } = await mine.load(request, onPhase);
      if (state.over) return;
      if (quickDeaths < QUICK_DEATHS) failures = 0;
      state.become({ name: 'ready', times: { loadMs, goldenMs }, example });
    } catch (error) {
      return onLoadFailure(request, mine, error as RunError);
    }
    const since = performance.now();
    const reason = await mine.gone;
    if (state.over) return;
    quickDeaths = performance.now() - since < STABLE_MS ? quickDeaths + 1 : 0;
    if (quickDeaths < QUICK_DEATHS) return again(request);
    // It would eat the machine up, and every caller would wait for nothing.
    failed(new Error(`the model process ${reason}, ${quickDeaths} times soon after it was ready`), () =>
      again(request),
    );
  }

  function again(request: LoadRequest): void {
    restarts++;
    void spawn(request);
  }

  /** A model that can't be loaded stays failed; a process that died (no memory?) is tried again. */
  function onLoadFailure(request: LoadRequest, mine: EngineClient, error: RunError): void {
    mine.kill();
    failed(error, error.code === 'engine_crashed' ? () => again(request) : undefined);
  }

  function failed({ message, cause }: Error, retry: (() => void) | undefined): void {
    if (state.over) return;
    const retryInMs = retry && Math.min(backoffMs * 2 ** failures++, LONGEST_BACKOFF_MS);
    const detail = cause === undefined ? undefined : describe(cause);
    state.become({ name: 'failed', reason: message, detail, retryInMs });
    if (retry) timer = setTimeout(retry, retryInMs);
  }

  function end(tell: () => void): void {
    clearTimeout(timer);
    tell();
    state.freeze();
    client?.kill();
  }

  return {
    get state() {
      return state.now;
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
      await state.untilReady(signal);
      return client!;
    },
    refuse: (error) => end(() => failed(error, undefined)),
    stop() {
      end(() => state.become({ name: 'stopped' }));
      stopping.abort(new Error('the server is stopping'));
      return preparing ?? Promise.resolve();
    },
  };
}

/** Runs of graphs of one engine after the other. */
function sumOfRuns() {
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
