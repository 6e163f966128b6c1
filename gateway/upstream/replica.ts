import type { ModelEntry } from '../catalog/entry.js';
import type { ServerInstance, RunningModel } from './upstream.js';

/** One server of a model, from the decision to start it until it is gone. */
export interface Replica {
  entry: ModelEntry;
  /** `draining`: takes no more calls, and is stopped when those that it has are done. */
  state: 'starting' | 'ready' | 'draining' | 'stopping';
  instance?: ServerInstance;
  leases: number;
  /** Callers who wait for its start, and will have a lease at once. */
  expected: number;
  /** Turn of its last use; the smallest goes first. */
  used: number;
  idle?: NodeJS.Timeout;
  giveUp: AbortController;
  /** Settles when the start has succeeded or failed. */
  started: Promise<void>;
  /** Settles when it is gone, once it has been told to go. */
  stopped?: Promise<void>;
}

export function createReplica(entry: ModelEntry, used: number): Replica {
  const started = Promise.resolve();
  return {
    ...{ entry, used, started },
    state: 'starting',
    leases: 0,
    expected: 0,
    giveUp: new AbortController(),
  };
}

export function describeReplica(slot: Replica): RunningModel {
  const { entry, state, leases } = slot;
  return { modelId: entry.modelId, state, leases, ramRequired: totalGigabytes([slot]) };
}

/** GB that they take together. */
export function totalGigabytes(slots: Iterable<Replica>): number {
  let sum = 0;
  for (const { entry, instance } of slots) sum += instance?.gigabytes ?? entry.ramRequired;
  return sum;
}

/** False when the catalogue has come to mean another server by the same name. */
export function isReplicaOf({ entry }: Replica, wanted: ModelEntry): boolean {
  return (
    entry.modelId === wanted.modelId &&
    entry.task === wanted.task &&
    entry.from === wanted.from &&
    entry.image?.id === wanted.image?.id
  );
}

/**
 * Whom the next call goes to: the first that is not busy, so that those further back can become idle, else the one with
 * the least to do. Undefined when none takes calls.
 * @param busyAt calls at a time from which on a server counts as busy
 */
export function nextReplica(slots: readonly Replica[], busyAt: number): Replica | undefined {
  const ready = slots.filter(({ state }) => state === 'ready');
  return ready.find(({ leases }) => leases < busyAt) ?? ready.sort((a, b) => a.leases - b.leases)[0];
}

/** The one that was unused longest among those that may go. */
export function leastRecentlyUsed(slots: readonly Replica[]): Replica | undefined {
  return slots.toSorted((a, b) => a.used - b.used)[0];
}
