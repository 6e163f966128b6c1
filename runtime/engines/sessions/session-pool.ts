import { statSync } from 'node:fs';
import type { Defer, LoadRequest } from '../../core/load-request.js';
import { localHost, type OpenedSession, type SessionHost } from './host.js';
import type { GraphSource } from './graph-source.js';
import type { Tensors } from './tensors.js';
import { type SharedWeights, shareWeights } from './shared-weights.js';
import { type SessionThread, threadHost } from './thread-host.js';

export type RunGraph = (feeds: Tensors) => Promise<Tensors>;

/** A session of a pool: one run at a time. */
export interface PooledSession {
  /** On this session's share of the threads: what gives the most runs a second while all sessions work. */
  run: RunGraph;
  /** On all threads: what is quickest for a single run while the other sessions rest. The first session only. */
  runWide: RunGraph | undefined;
}

export interface SessionPool extends Omit<OpenedSession, 'key'> {
  sessions: PooledSession[];
  /** Set where other sessions are to take the place of these: takes work that only the lasting ones are right for. */
  defer?: Defer | undefined;
}

/**
 * Opens a graph of bounded inputs for `request.workers` runs side by side. One session of one thread per core computes
 * up to twice as much as one session on all threads; a lone request is up to twice as quick on all of them. So both
 * kinds are opened, over one mapping of the weights. Where that can't be had there is one session with all threads,
 * unless the operator asked for more (`copyWeights`).
 */
export async function openSessionPool(
  request: LoadRequest,
  graph: GraphSource,
  startHost = threadHost,
): Promise<SessionPool> {
  const { workers, device } = request;
  if (workers === 0) return singleSession(localHost(), request, graph);
  if (workers === 1 || device !== 'cpu') return singleSession(startHost(), request, graph);
  const first = startHost();
  return (await manySessions(first, request, { graph, startHost })) ?? singleSession(first, request, graph);
}

/**
 * Sessions on `first` and on hosts of their own, as many as there are workers. `first` may be answering meanwhile: another
 * one writes.
 * @returns undefined where they can't share weights, nor have a copy each; the other hosts have ended then
 */
export async function manySessions(
  first: SessionThread,
  request: LoadRequest,
  { graph, startHost }: { graph: GraphSource; startHost: () => SessionThread },
): Promise<SessionPool | undefined> {
  const others = Array.from({ length: request.workers - 1 }, () => startHost());
  const hosts = [first, ...others];
  const shared = await shareWeights(others[0]!, { graph, bytes: weightBytes(request, graph) });
  const pool = shared && (await sharedSessions(hosts, request, shared));
  if (pool) return pool;
  if (request.copyWeights) return parallelSessions(hosts, request, graph);
  await Promise.all(others.map((host) => host.end()));
  return undefined;
}

/** @returns undefined where ONNX Runtime can't read what it wrote: some constants of branches are in it twice */
async function sharedSessions(
  hosts: readonly SessionHost[],
  request: LoadRequest,
  shared: SharedWeights,
): Promise<SessionPool | undefined> {
  try {
    return await parallelSessions(hosts, request, shared.path);
  } catch (error) {
    process.stderr.write(`weights are not shared between sessions: ${(error as Error).message}\n`);
    return undefined;
  } finally {
    shared.unlink();
  }
}

export async function singleSession(
  host: SessionHost,
  { device, threads }: LoadRequest,
  graph: GraphSource,
): Promise<SessionPool> {
  const { key, inputs, outputs } = await host.open(graph, { device, threads, arena: true });
  return { inputs, outputs, sessions: [{ run: (feeds) => host.run(key, feeds), runWide: undefined }] };
}

async function parallelSessions(
  hosts: readonly SessionHost[],
  request: LoadRequest,
  graph: GraphSource,
): Promise<SessionPool> {
  const { device, threads } = request;
  const first = hosts[0]!;
  const own = Math.max(1, Math.floor(threads / hosts.length));
  const [wide, ...narrow] = await Promise.all([
    first.open(graph, { device, threads, arena: true }),
    ...hosts.map((host) => host.open(graph, { device, threads: own, arena: true })),
  ]);
  const sessions = hosts.map((host, i) => ({
    run: (feeds: Tensors) => host.run(narrow[i]!.key, feeds),
    runWide: i === 0 ? (feeds: Tensors) => first.run(wide.key, feeds) : undefined,
  }));
  return { inputs: wide.inputs, outputs: wide.outputs, sessions };
}

/** An upper bound: weights may lie in files beside the graph. */
export function weightBytes({ spec }: LoadRequest, graph: GraphSource): number {
  const all = spec.files.reduce((sum, file) => sum + file.size, 0);
  return typeof graph === 'string' ? Math.max(statSync(graph).size, all) : all;
}
