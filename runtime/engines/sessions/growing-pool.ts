import type { LoadRequest } from '../../core/load-request.js';
import { finishLater } from './finish-later.js';
import type { GraphSource } from './graph-source.js';
import type { SessionHost } from './host.js';
import {
  manySessions,
  openSessionPool,
  type RunGraph,
  type SessionPool,
  singleSession,
  weightBytes,
} from './session-pool.js';
import { canShare } from './shared-weights.js';
import type { Tensors } from './tensors.js';
import { type SessionThread, threadHost } from './thread-host.js';

/** The first session's and the copy's, of 32 bits where the file may have 16, and what the file is mapped to. */
const COPIES_MEANWHILE = 5;
const OTHER_BYTES = 300e6;

/**
 * As openSessionPool, from one session at first: a mapped copy of the weights and the sessions over it are made when two runs
 * first meet, and what is deferred waits for that. Until then the model has answered sooner, and weights are in memory once.
 * Where none may be added later, or sessions could not share the copy, all is there at once.
 */
export async function openSessionPoolOnDemand(
  request: LoadRequest,
  graph: GraphSource,
  startHost = threadHost,
): Promise<SessionPool> {
  if (!canGrow(request, weightBytes(request, graph))) return openSessionPool(request, graph, startHost);
  const { pool, grow } = await openGrowingPool(request, graph, startHost);
  const later = [grow];
  let begun = false;
  const sessions = pool.sessions.map(({ run, runWide }, i) => ({
    run(feeds: Tensors) {
      // The others are asked while the first one is busy.
      if (i > 0 && !begun) {
        begun = true;
        void finishLater(later);
      }
      return run(feeds);
    },
    runWide,
  }));
  return { ...pool, sessions, defer: (work) => void later.push(work) };
}

/** Whether there will be other sessions at all: larger weights have no copy that these could share. */
const canGrow = ({ workers, device, mayGrow }: LoadRequest, bytes: number): boolean =>
  mayGrow === true && workers >= 2 && device === 'cpu' && canShare(bytes);

/** Whether the first session may go on while the others are made. */
const hasRoomForBoth = ({ memory }: LoadRequest, bytes: number): boolean =>
  memory === undefined || memory.limit - memory.bodies >= COPIES_MEANWHILE * bytes + OTHER_BYTES;

interface GrowingPool {
  pool: SessionPool;
  /** Puts others into the place of the first session. Where there is no room for both, runs wait until they are there. */
  grow(): Promise<void>;
}

async function openGrowingPool(
  request: LoadRequest,
  graph: GraphSource,
  startHost: () => SessionThread,
): Promise<GrowingPool> {
  const { workers, device, threads } = request;
  const first = startHost();
  const { key, inputs, outputs } = await first.open(graph, { device, threads, arena: true });
  const begin = runsUntilClosed(first, key);
  let lasting: SessionPool | undefined;
  let waiting: Promise<void> | undefined;
  const current = (kind: 'run' | 'runWide', i: number): RunGraph =>
    lasting ? (lasting.sessions[i]?.[kind] ?? lasting.sessions[0]!.run) : begin.run;
  // At once where nothing is waited for: a session that is to be closed has to know of its runs.
  const runOf = (kind: 'run' | 'runWide', i: number) => (feeds: Tensors) =>
    waiting ? waiting.then(() => current(kind, i)(feeds)) : current(kind, i)(feeds);
  const sessions = Array.from({ length: workers }, (_, i) => ({
    run: runOf('run', i),
    runWide: i === 0 ? runOf('runWide', i) : undefined,
  }));
  const open = () => manySessions(first, request, { graph, startHost });
  return {
    pool: { inputs, outputs, sessions },
    async grow() {
      if (hasRoomForBoth(request, weightBytes(request, graph))) {
        lasting = await open();
        if (lasting) await begin.close();
      } else {
        waiting = begin
          .close()
          .then(async () => void (lasting = (await open()) ?? (await singleSession(first, request, graph))))
          .catch(endProcess);
        await waiting;
        waiting = undefined;
      }
    },
  };
}

/** A session that is closed once the runs that it has begun have ended. */
function runsUntilClosed(host: SessionHost, key: number): { run: RunGraph; close(): Promise<void> } {
  const running = new Set<Promise<unknown>>();
  return {
    run(feeds) {
      const result = host.run(key, feeds);
      running.add(result);
      const ended = () => running.delete(result);
      result.then(ended, ended);
      return result;
    },
    async close() {
      await Promise.allSettled(running);
      await host.close(key);
    },
  };
}

/** What was open once can't be opened again: the parent starts another process, as after any crash. */
function endProcess(error: Error): void {
  process.stderr.write(`the model can't be opened again: ${error.message}\n`);
  process.kill(process.pid, 'SIGKILL');
}
