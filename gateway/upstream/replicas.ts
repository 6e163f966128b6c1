import { RunError } from '../../runtime/core/errors.js';
import type { ModelEntry } from '../catalog/entry.js';
import { createReplica, type Replica } from './replica.js';
import { waitUntilSilent, stopWithRetries } from './supervision.js';
import type { ServerInstance, Lease, ModelEvent } from './upstream.js';

export interface ReplicasOptions {
  idleMs: number;
  /** Time between two probes of a server, and between two tries to stop one. */
  probeMs: number;
  log: (line: string) => void;
  onEvent: (event: ModelEvent) => void;
  /** Called when a server becomes ready, ends, or has a call less. */
  onChange(): void;
}

export type LaunchServer = (signal: AbortSignal) => Promise<ServerInstance>;

/** Manages the life of servers: start, lease, idle, drain, stop. The caller decides which servers are wanted. */
export interface Replicas {
  /** All that run or are starting. */
  readonly all: ReadonlySet<Replica>;
  start(entry: ModelEntry, open: LaunchServer): Replica;
  /** @param replica must be ready */
  lease(replica: Replica, cold: boolean): Lease;
  /** Takes no new calls, and stops when the running ones are done. */
  drain(replica: Replica, reason: string): void;
  /** Resolves when it has ended, or after the first try if it can't be stopped. */
  stop(replica: Replica, reason: string): Promise<void>;
}

export function createReplicas({ idleMs, probeMs, log, onEvent, onChange }: ReplicasOptions): Replicas {
  const replicas = new Set<Replica>();
  let clock = 0;

  function start(entry: ModelEntry, open: LaunchServer): Replica {
    const replica = createReplica(entry, clock++);
    replicas.add(replica);
    log(`starts ${entry.modelId}`);
    replica.started = launch(replica, open);
    // All callers may have left when it fails.
    replica.started.catch(() => undefined);
    return replica;
  }

  async function launch(replica: Replica, open: LaunchServer): Promise<void> {
    const { modelId } = replica.entry;
    try {
      replica.instance = await open(replica.startController.signal);
    } catch (error) {
      replicas.delete(replica);
      onChange();
      throw notStarted(modelId, (error as Error).message);
    }
    void replica.instance.ended.then((reason) => onEnded(replica, reason));
    // `stop` removes it; until then it counts against the budget.
    if (replica.startController.signal.aborted)
      throw notStarted(modelId, (replica.startController.signal.reason as Error).message);
    replica.state = 'ready';
    onEvent({ event: 'started', modelId });
    scheduleIdleStop(replica);
    void probe(replica);
    onChange();
  }

  /** The reason may name paths and hosts, so callers don't get it. */
  function notStarted(modelId: string, reason: string): RunError {
    onEvent({ event: 'failed', modelId, reason });
    log(`${modelId} does not start: ${reason}`);
    const message = `${modelId} does not start; the gateway's log says why`;
    return new RunError('not_ready', message, { retryAfter: 5 });
  }

  async function probe(replica: Replica): Promise<void> {
    const isActive = () => replicas.has(replica) && replica.state !== 'stopping';
    if (await waitUntilSilent(replica.instance!, { everyMs: probeMs, isActive }))
      void stop(replica, 'it does not answer');
  }

  function onEnded(replica: Replica, reason: string): void {
    const { modelId } = replica.entry;
    clearTimeout(replica.idle);
    replicas.delete(replica);
    log(`${modelId} ${reason}`);
    onEvent({ event: 'stopped', modelId, reason });
    onChange();
  }

  function lease(replica: Replica, cold: boolean): Lease {
    replica.leases++;
    replica.used = clock++;
    clearTimeout(replica.idle);
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      replica.leases--;
      scheduleIdleStop(replica);
      onChange();
    };
    const { url } = replica.instance!;
    const stops = () => drain(replica, 'it is being stopped');
    return { url, cold, release, stops, suspect: () => suspect(replica) };
  }

  async function suspect(replica: Replica): Promise<void> {
    if (replica.state === 'stopping' || (await replica.instance!.isAlive())) return;
    void stop(replica, 'it does not answer');
  }

  function scheduleIdleStop(replica: Replica): void {
    if (replica.leases > 0) return;
    const onIdle = () => void stop(replica, 'was idle');
    if (replica.state === 'draining') void stop(replica, 'its work is done');
    else if (replica.state === 'ready') replica.idle = setTimeout(onIdle, idleMs).unref();
  }

  function drain(replica: Replica, reason: string): void {
    if (replica.state === 'starting') void stop(replica, reason);
    if (replica.state !== 'ready') return;
    log(`${replica.entry.modelId} takes no more calls: ${reason}`);
    replica.state = 'draining';
    scheduleIdleStop(replica);
  }

  function stop(replica: Replica, reason: string): Promise<void> {
    replica.stopped ??= stopNow(replica, reason);
    return replica.stopped;
  }

  async function stopNow(replica: Replica, reason: string): Promise<void> {
    replica.state = 'stopping';
    clearTimeout(replica.idle);
    log(`stops ${replica.entry.modelId}: ${reason}`);
    replica.startController.abort(new Error(reason));
    // A start under way aborts; its error goes to those who wait for it.
    await replica.started.catch(() => undefined);
    const isActive = () => replicas.has(replica);
    const onFailure = (error: string) =>
      log(`${replica.entry.modelId} can't be stopped, which is tried again: ${error}`);
    if (replica.instance) await stopWithRetries(replica.instance, { everyMs: probeMs, isActive, onFailure });
  }

  return { all: replicas, start, lease, drain, stop };
}
