import type { ModelEntry } from '../catalog/entry.js';
import type { ServerInstance, RunningModel } from './upstream.js';

/** One server of a model, from the decision to start it until it has ended. */
export interface Replica {
  entry: ModelEntry;
  /** `draining`: takes no new calls and is stopped when its running calls are done. */
  state: 'starting' | 'ready' | 'draining' | 'stopping';
  instance?: ServerInstance;
  leases: number;
  /** Callers waiting for its start; they take their leases at once. */
  expected: number;
  /** Logical clock of its last use; the smallest is the least recently used. */
  used: number;
  idle?: NodeJS.Timeout;
  startController: AbortController;
  /** Settles when the start has succeeded or failed. */
  started: Promise<void>;
  /** Set when it is being stopped; settles when it has ended. */
  stopped?: Promise<void>;
}

export function createReplica(entry: ModelEntry, used: number): Replica {
  const started = Promise.resolve();
  return {
    ...{ entry, used, started },
    state: 'starting',
    leases: 0,
    expected: 0,
    startController: new AbortController(),
  };
}

export function describeReplica(replica: Replica): RunningModel {
  const { entry, state, leases } = replica;
  return { modelId: entry.modelId, state, leases, ramRequired: totalGigabytes([replica]) };
}

/** GB that all of them take together. */
export function totalGigabytes(replicas: Iterable<Replica>): number {
  let sum = 0;
  for (const { entry, instance } of replicas) sum += instance?.gigabytes ?? entry.ramRequired;
  return sum;
}

/** False if the entry changed so that another server is needed. */
export function isReplicaOf({ entry }: Replica, wanted: ModelEntry): boolean {
  return (
    entry.modelId === wanted.modelId &&
    entry.task === wanted.task &&
    entry.from === wanted.from &&
    entry.image?.id === wanted.image?.id
  );
}

/**
 * The replica for the next call: the first that is not busy, so that later ones can become idle; else the one with the
 * fewest calls. Undefined if none is ready.
 * @param busyAt number of concurrent calls from which a server counts as busy
 */
export function nextReplica(replicas: readonly Replica[], busyAt: number): Replica | undefined {
  const ready = replicas.filter(({ state }) => state === 'ready');
  return ready.find(({ leases }) => leases < busyAt) ?? ready.sort((a, b) => a.leases - b.leases)[0];
}

/** The least recently used of the replicas. */
export function leastRecentlyUsed(replicas: readonly Replica[]): Replica | undefined {
  return replicas.toSorted((a, b) => a.used - b.used)[0];
}
