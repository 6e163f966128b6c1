import { RunError } from '../../runtime/core/errors.js';
import type { ModelEntry } from '../catalog/entry.js';
import { createMemoryBudget } from './memory-budget.js';
import { createReplicas } from './replicas.js';
import { nextReplica, describeReplica, isReplicaOf, type Replica } from './replica.js';
import type { Launcher, Lease, LeftoverServer, ModelEvent, Upstream } from './upstream.js';
import { createAdmissionQueue } from './admission-queue.js';

export interface PoolOptions {
  launcher: Launcher;
  /** GB that all running models together may take, by what their entries say. */
  memoryGb: number;
  /** A server that nobody has asked for so long is stopped. */
  idleMs: number;
  /** Callers that may wait for a model to start, or for room. */
  maxWaiting: number;
  /** Most servers of one model; one by default. */
  replicas?: number;
  /** Calls at a time from which on a server is busy, and one more is started. */
  busyAt?: number;
  /** A caller who waits for room longer than this makes a busy model finish its work and go. */
  patienceMs?: number;
  /** Between two looks at each server that runs. */
  probeMs?: number;
  /** Between two sweeps of what earlier servers have left behind. */
  sweepMs?: number;
  log: (line: string) => void;
  onEvent?: (event: ModelEvent) => void;
}

/** An upstream that starts and ends servers itself. */
export interface Pool extends Upstream {
  /** Takes over what an earlier run has left running, as far as it is wanted and fits; the rest is ended. */
  adopt(find: (modelId: string) => ModelEntry | undefined): Promise<void>;
}

const BUSY_AT = 16;
const PATIENCE_MS = 10_000;
/** With the five seconds that a look takes at most, a frozen server is given up within a minute. */
const PROBE_MS = 10_000;
const SWEEP_MS = 60_000;
/** After a failed start no further server of a model is tried for so long. */
const PAUSE_MS = 30_000;

/**
 * Starts models when they are asked for, within a budget of memory. What has been unused longest goes first, never what
 * has work under way; what nobody wants any more is stopped after a while. A model with much to do gets more servers,
 * where there is room without taking it from others. A server that ends is started again by the next call.
 */
export function createPool(options: PoolOptions): Pool {
  const { launcher, memoryGb, idleMs, maxWaiting, log, onEvent = () => {} } = options;
  const { replicas = 1, busyAt = BUSY_AT, patienceMs = PATIENCE_MS } = options;
  const { probeMs = PROBE_MS, sweepMs = SWEEP_MS } = options;
  const line = createAdmissionQueue(maxWaiting);
  const servers = createReplicas({ idleMs, probeMs, log, onEvent, onChange: () => line.wake() });
  const { all: slots } = servers;
  const room = createMemoryBudget(memoryGb, servers);
  const growsAgain = new Map<string, number>();
  /** Names of leftovers that could not be removed. */
  const stuck = new Set<string>();
  const sweeper = launcher.leftovers && setInterval(() => void sweep(), sweepMs).unref();
  let closed = false;

  async function acquire(entry: ModelEntry, signal: AbortSignal): Promise<Lease> {
    refuseTooLarge(entry, memoryGb);
    const since = performance.now();
    let cold = false;
    for (;;) {
      signal.throwIfAborted();
      if (closed) throw new RunError('not_ready', 'the gateway is stopping');
      const mine = serversOf(entry);
      const server = nextReplica(mine, busyAt);
      if (server) {
        if (server.leases >= busyAt) grow(entry, mine);
        return servers.lease(server, cold);
      }
      const starting = mine.find(({ state }) => state === 'starting') ?? startWithin(entry, since);
      cold ||= starting !== undefined;
      if (starting) starting.expected++;
      try {
        // A start that fails does so for all who wait for it.
        await line.wait(starting?.started ?? line.nextChange(patienceMs), signal);
      } catch (error) {
        // Others who wait for this model will say so again.
        if (room.clearPriority(entry.modelId)) line.wake();
        throw error;
      } finally {
        // Nobody comes between this and the lease.
        if (starting) starting.expected--;
      }
    }
  }

  /** Those that still serve what the entry means; the others go as soon as they may. */
  function serversOf(entry: ModelEntry): Replica[] {
    const named = [...slots].filter((slot) => slot.entry.modelId === entry.modelId);
    for (const slot of named) if (!isReplicaOf(slot, entry)) servers.drain(slot, 'its entry has changed');
    return named.filter((slot) => isReplicaOf(slot, entry));
  }

  function start(entry: ModelEntry): Replica {
    room.clearPriority(entry.modelId);
    return servers.start(entry, (signal) => launcher.launch(entry, signal));
  }

  /** Undefined while there is no room for it. */
  function startWithin(entry: ModelEntry, since: number): Replica | undefined {
    if (performance.now() - since > patienceMs) room.prioritize(entry.modelId);
    return room.makeRoom(entry) ? start(entry) : undefined;
  }

  function grow(entry: ModelEntry, mine: readonly Replica[]): void {
    const { modelId } = entry;
    if (mine.length >= replicas || mine.some(({ state }) => state === 'starting') || !room.fits(entry))
      return;
    if ((growsAgain.get(modelId) ?? 0) > performance.now()) return;
    start(entry).started.catch(() => growsAgain.set(modelId, performance.now() + PAUSE_MS));
  }

  async function adopt(find: (modelId: string) => ModelEntry | undefined): Promise<void> {
    for (const leftover of (await launcher.leftovers?.()) ?? []) {
      const entry = find(leftover.modelId);
      const wanted = entry && leftover.isOf(entry) && serversOf(entry).length < replicas && room.fits(entry);
      if (wanted) servers.start(entry, leftover.resume);
      else await clean(leftover);
    }
  }

  /** What can't be taken away is told once and left to the next sweep: models are served beside it. */
  async function clean({ name, discard }: LeftoverServer): Promise<void> {
    try {
      await discard();
      stuck.delete(name);
    } catch (error) {
      if (!stuck.has(name)) log(`${name} is left over and can't be removed: ${(error as Error).message}`);
      stuck.add(name);
    }
  }

  async function sweep(): Promise<void> {
    // An engine that is away is asked again.
    const dead = (await launcher.leftovers?.().catch(() => [])) ?? [];
    for (const leftover of dead) if (!closed && leftover.isDead) await clean(leftover);
  }

  return {
    acquire,
    adopt,
    status: () => [...slots].map(describeReplica),
    async close() {
      closed = true;
      clearInterval(sweeper);
      line.wake();
      await Promise.all([...slots].map((slot) => servers.stop(slot, 'the gateway ends')));
      await launcher.close?.();
    },
  };
}

function refuseTooLarge({ modelId, ramRequired }: ModelEntry, memoryGb: number): void {
  if (ramRequired <= memoryGb) return;
  const why = `${modelId} takes ${ramRequired} GB, and this gateway has ${memoryGb} GB for models`;
  throw new RunError('overloaded', why, { retryAfter: 3600 });
}
