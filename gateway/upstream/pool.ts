import { RunError } from '../../runtime/core/errors.js';
import type { ModelEntry } from '../catalog/entry.js';
import { createMemoryBudget } from './memory-budget.js';
import { createReplicas, type Replicas } from './replicas.js';
import { createExpectation } from './expectation.js';
import { createLeftovers } from './leftovers.js';
import { nextReplica, describeReplica, isReplicaOf, type Replica } from './replica.js';
import type { Launcher, Lease, ModelEvent, Upstream } from './upstream.js';
import { createAdmissionQueue } from './admission-queue.js';

export interface PoolOptions {
  launcher: Launcher;
  /** Models that may be called. */
  catalog?: () => readonly ModelEntry[];
  /** GB for all running models together. */
  memoryGb: number;
  /** A server without calls for this long is stopped. */
  idleMs: number;
  /** Most callers waiting for a start or for memory. */
  maxWaiting: number;
  /** Most servers of one model; one by default. */
  replicas?: number;
  /** With this many concurrent calls a server is busy, and one more is started. */
  busyAt?: number;
  /** A caller who waits for memory longer than this gives its model priority: a busy server is drained for it. */
  patienceMs?: number;
  /** Time between two probes of each server. */
  probeMs?: number;
  /** Time between two removals of leftover containers. */
  sweepMs?: number;
  log: (line: string) => void;
  onEvent?: (event: ModelEvent) => void;
}

/** An upstream that starts and stops servers itself. */
export interface Pool extends Upstream {
  /** Takes over servers of an earlier run that are still wanted and fit; discards the others. */
  adopt(find: (modelId: string) => ModelEntry | undefined): Promise<void>;
}

const BUSY_AT = 16;
const PATIENCE_MS = 10_000;
/** A probe takes at most 5 s, so a frozen server is stopped within a minute. */
const PROBE_MS = 10_000;
const SWEEP_MS = 60_000;
/** Pause after a failed start before another replica of the model is tried. */
const PAUSE_MS = 30_000;

/**
 * Starts a model at its first call, within a memory budget. When memory is short, the least recently used idle server
 * is stopped. Idle servers are stopped after `idleMs`. A busy model gets more replicas if they fit without stopping
 * others. A server that ends is started again by the next call.
 */
export function createPool(options: PoolOptions): Pool {
  const { launcher, catalog = () => [], memoryGb, idleMs, maxWaiting, log, onEvent = () => {} } = options;
  const { replicas: maxReplicas = 1, busyAt = BUSY_AT, patienceMs = PATIENCE_MS } = options;
  const { probeMs = PROBE_MS, sweepMs = SWEEP_MS } = options;
  const queue = createAdmissionQueue(maxWaiting);
  const replicas = createReplicas({
    ...{ idleMs, probeMs, log, onChange: () => queue.wake() },
    onEvent(event) {
      onEvent(event);
      if (event.event !== 'started') expectCalls();
    },
  });
  const budget = createMemoryBudget(memoryGb, replicas);
  const expectation = createExpectation({ catalog, memoryGb, replicas: replicas.all });
  const growAfter = new Map<string, number>();
  const leftovers = createLeftovers(launcher, log);
  const sweeper = launcher.leftovers && setInterval(() => void sweep(), sweepMs).unref();
  let closed = false;

  async function acquire(entry: ModelEntry, signal: AbortSignal): Promise<Lease> {
    refuseTooLarge(entry, memoryGb);
    const since = performance.now();
    expectation.called(entry.modelId);
    let cold = false;
    for (;;) {
      signal.throwIfAborted();
      if (closed) throw new RunError('not_ready', 'the gateway is stopping');
      const current = replicasOf(entry);
      const replica = nextReplica(current, busyAt);
      if (replica) {
        if (replica.leases >= busyAt) grow(entry, current);
        return replicas.lease(replica, cold);
      }
      const starting = current.find(({ state }) => state === 'starting') ?? startWithin(entry, since);
      cold ||= starting !== undefined;
      if (starting) starting.expected++;
      try {
        // A failed start is an error for all who wait for it.
        await queue.wait(starting?.started ?? queue.nextChange(patienceMs), signal);
      } catch (error) {
        // Other callers of this model set the priority again.
        if (budget.clearPriority(entry.modelId)) queue.wake();
        throw error;
      } finally {
        // No await between this and the lease, so the server can't be stopped in between.
        if (starting) starting.expected--;
      }
    }
  }

  /** The replicas of the entry. Drains those of the same model whose entry has changed. */
  function replicasOf(entry: ModelEntry): Replica[] {
    const sameId = [...replicas.all].filter((replica) => replica.entry.modelId === entry.modelId);
    for (const replica of sameId)
      if (!isReplicaOf(replica, entry)) replicas.drain(replica, 'its entry has changed');
    return sameId.filter((replica) => isReplicaOf(replica, entry));
  }

  function start(entry: ModelEntry): Replica {
    budget.clearPriority(entry.modelId);
    return replicas.start(entry, (signal) => launcher.launch(entry, signal));
  }

  /** Undefined while there is no memory for it. */
  function startWithin(entry: ModelEntry, since: number): Replica | undefined {
    if (performance.now() - since > patienceMs) budget.prioritize(entry.modelId);
    return budget.makeRoom(entry) ? start(entry) : undefined;
  }

  function grow(entry: ModelEntry, current: readonly Replica[]): void {
    const { modelId } = entry;
    if (
      current.length >= maxReplicas ||
      current.some(({ state }) => state === 'starting') ||
      !budget.fits(entry)
    )
      return;
    if ((growAfter.get(modelId) ?? 0) > performance.now()) return;
    start(entry).started.catch(() => growAfter.set(modelId, performance.now() + PAUSE_MS));
  }

  function expectCalls(): void {
    if (!closed) launcher.expect?.(expectation.models());
  }

  async function adopt(find: (modelId: string) => ModelEntry | undefined): Promise<void> {
    await leftovers.settle((leftover) => {
      const entry = find(leftover.modelId);
      const isWanted =
        entry && leftover.isOf(entry) && replicasOf(entry).length < maxReplicas && budget.fits(entry);
      if (isWanted) replicas.start(entry, leftover.resume);
      return isWanted ?? false;
    });
    expectCalls();
  }

  async function sweep(): Promise<void> {
    await leftovers.removeDead(() => !closed);
    // The catalogue may have changed.
    expectCalls();
  }

  return {
    acquire,
    adopt,
    ...viewOf(replicas, memoryGb),
    async close() {
      closed = true;
      clearInterval(sweeper);
      queue.wake();
      await Promise.all([...replicas.all].map((replica) => replicas.stop(replica, 'the gateway ends')));
      await launcher.close?.();
    },
  };
}

/** What operators see, and do. */
function viewOf(replicas: Replicas, budgetGb: number): Pick<Upstream, 'status' | 'stop' | 'budgetGb'> {
  return {
    status: () => [...replicas.all].map(describeReplica),
    stop: (modelId) => drainModel(replicas, modelId),
    budgetGb,
  };
}

function drainModel({ all, drain }: Replicas, modelId: string): number {
  const ofModel = [...all].filter(({ entry }) => entry.modelId === modelId);
  for (const replica of ofModel) drain(replica, 'an operator stops it');
  return ofModel.length;
}

function refuseTooLarge({ modelId, ramRequired }: ModelEntry, memoryGb: number): void {
  if (ramRequired <= memoryGb) return;
  const message = `${modelId} takes ${ramRequired} GB, and this gateway has ${memoryGb} GB for models`;
  throw new RunError('overloaded', message, { retryAfter: 3600 });
}
