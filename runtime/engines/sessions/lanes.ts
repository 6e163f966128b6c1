import { statSync } from 'node:fs';
import type { LoadRequest } from '../../core/load-request.js';
import { localHost, type OpenedSession, type SessionHost } from './host.js';
import type { Tensors } from './tensors.js';
import { shareWeights } from './shared-weights.js';
import { threadHost } from './thread-host.js';

export type Run = (feeds: Tensors) => Promise<Tensors>;

/** A place where one run at a time can be under way. */
export interface Lane {
  /** On this lane's share of the threads: what gives the most runs a second while all lanes work. */
  run: Run;
  /** On all threads: what is quickest for a single run while the other lanes rest. The first lane only. */
  runWide: Run | undefined;
}

export interface Lanes extends Omit<OpenedSession, 'key'> {
  lanes: Lane[];
}

/**
 * Opens a graph of bounded inputs for `request.workers` runs side by side. One session of one thread per core computes
 * up to twice as much as one session on all threads; a lone request is up to twice as quick on all of them. So both
 * kinds are opened, over one mapping of the weights. Where that can't be had there is one lane with all threads,
 * unless the operator asked for more (`copyWeights`).
 */
export async function openLanes(request: LoadRequest, path: string): Promise<Lanes> {
  const { workers, device } = request;
  if (workers === 0) return singleLane(localHost(), request, path);
  if (workers === 1 || device !== 'cpu') return singleLane(threadHost(), request, path);
  const first = threadHost();
  // They come up while the first writes.
  const others = Array.from({ length: workers - 1 }, threadHost);
  const shared = await shareWeights(first, { path, bytes: weightBytes(request, path) });
  if (!shared && !request.copyWeights) {
    await Promise.all(others.map((host) => host.end()));
    return singleLane(first, request, path);
  }
  try {
    return await parallelLanes([first, ...others], request, shared?.path ?? path);
  } finally {
    shared?.unlink();
  }
}

async function singleLane(host: SessionHost, { device, threads }: LoadRequest, path: string): Promise<Lanes> {
  const { key, inputs, outputs } = await host.open(path, { device, threads, arena: true });
  return { inputs, outputs, lanes: [{ run: (feeds) => host.run(key, feeds), runWide: undefined }] };
}

async function parallelLanes(
  hosts: readonly SessionHost[],
  request: LoadRequest,
  path: string,
): Promise<Lanes> {
  const { device, threads } = request;
  const first = hosts[0]!;
  const own = Math.max(1, Math.floor(threads / hosts.length));
  const [wide, ...narrow] = await Promise.all([
    first.open(path, { device, threads, arena: true }),
    ...hosts.map((host) => host.open(path, { device, threads: own, arena: true })),
  ]);
  const lanes = hosts.map((host, i) => ({
    run: (feeds: Tensors) => host.run(narrow[i]!.key, feeds),
    runWide: i === 0 ? (feeds: Tensors) => first.run(wide.key, feeds) : undefined,
  }));
  return { inputs: wide.inputs, outputs: wide.outputs, lanes };
}

/** An upper bound: weights may lie in files beside the graph. */
function weightBytes({ spec }: LoadRequest, path: string): number {
  return Math.max(
    statSync(path).size,
    spec.files.reduce((sum, file) => sum + file.size, 0),
  );
}
