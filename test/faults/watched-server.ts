import type { Server } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import type { LoadRequest } from '../../runtime/core/load-request.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import type { FetchMedia } from '../../runtime/media/fetch-media.js';
import { IMAGE } from '../../runtime/tasks/example.js';
import { createByteBudget } from '../../runtime/wire/byte-budget.js';
import { createHttpServer } from '../../runtime/wire/server.js';
import type { ToEngine } from '../../runtime/worker/protocol.js';
import { createScheduler } from '../../runtime/worker/scheduler.js';
import { createSupervisor, type Supervisor } from '../../runtime/worker/supervisor.js';
import { fakeApp } from '../fakes/app.js';
import { type FakeEngine, fakeEngines, READY } from '../fakes/engine.js';
import { closeServers, started } from '../fakes/gateway.js';
import type { Gauges } from '../fakes/leaving.js';

let supervisor: Supervisor | undefined;

/** For afterEach: ends what `watchedServer` has started. */
export async function closeWatched(): Promise<void> {
  await closeServers();
  await supervisor?.stop();
}

/** Answers each run in pieces, until it is told to stop; says how many runs it is at. */
function answering(engine: FakeEngine, output: unknown) {
  const open = new Set<number>();
  const run = async ({ id, deltas }: Extract<ToEngine, { type: 'run' }>) => {
    open.add(id);
    for (let step = 0; step < 6 && open.has(id); step++) {
      if (deltas) engine.say({ type: 'delta', id, delta: { text: 'word ' } });
      await turn();
    }
    if (open.delete(id)) engine.say({ type: 'done', id, output });
    else engine.say({ type: 'failed', id, error: { code: 'cancelled', message: 'cancelled' } });
  };
  engine.received.push = (message: ToEngine) => {
    if (message.type === 'run') void run(message);
    if (message.type === 'cancel') open.delete(message.id);
    return 0;
  };
  engine.say(READY);
  return () => open.size;
}

const image: FetchMedia = async (_url, signal, onBytes) => {
  for (let i = 0; i < 4; i++) {
    signal.throwIfAborted();
    onBytes?.(1000);
    await turn();
  }
  return Buffer.from(IMAGE, 'base64');
};

interface Watching {
  /** 1: whoever comes while another is there waits in the queue. */
  concurrency?: number;
  /** Turns of the event loop until the engine is ready. */
  startTurns?: number;
  /** Of each run. */
  output?: unknown;
}

/**
 * A model's server with an engine that takes its time, and what it holds at the moment.
 */
export async function watchedServer(
  task: TaskId,
  { concurrency = 4, startTurns = 0, output = 'word' }: Watching = {},
): Promise<{ server: Server; gauges: Gauges }> {
  let openRuns = () => 0;
  const { open } = fakeEngines(async (engine) => {
    for (let i = 0; i < startTurns; i++) await turn();
    openRuns = answering(engine, output);
  });
  supervisor = createSupervisor({ open, onState: () => {} });
  const scheduler = createScheduler({
    ...{ supervisor, concurrency, maxQueue: 1000, timeoutMs: 60_000, cancelGraceMs: 60_000 },
    onKill: () => {},
  });
  const budget = createByteBudget(2 ** 24);
  const app = fakeApp({ task, budget, fetchMedia: image, run: scheduler.run, requiredKey: 'K' });
  supervisor.start(async () => ({}) as LoadRequest);
  const server = createHttpServer(app);
  await started(server);
  const gauges = () => ({
    'bytes held': budget.held,
    running: scheduler.running,
    queued: scheduler.queued,
    'runs of the engine': openRuns(),
  });
  return { server, gauges };
}
