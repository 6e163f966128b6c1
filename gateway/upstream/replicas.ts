import { RunError } from '../../runtime/core/errors.js';
import type { ModelEntry } from '../catalog/entry.js';
import { createReplica, type Replica } from './replica.js';
import { waitUntilSilent, stopWithRetries } from './supervision.js';
import type { ServerInstance, Lease, ModelEvent } from './upstream.js';

export interface ReplicasOptions {
  idleMs: number;
  /** Between two looks at a server that runs, and two tries to stop one that can't be stopped. */
  probeMs: number;
  log: (line: string) => void;
  onEvent: (event: ModelEvent) => void;
  /** Called whenever a server has come, gone or become free. */
  onChange(): void;
}

export type LaunchServer = (signal: AbortSignal) => Promise<ServerInstance>;

/** The life of servers: started, leased, idle, drained, stopped. Which of them are wanted is the caller's to decide. */
export interface Replicas {
  /** All that are there or on their way. */
  readonly all: ReadonlySet<Replica>;
  start(entry: ModelEntry, open: LaunchServer): Replica;
  /** Of one that is ready. */
  lease(slot: Replica, cold: boolean): Lease;
  /** No more calls; stops it when those under way are done. */
  drain(slot: Replica, why: string): void;
  /** Resolves when it is gone. */
  stop(slot: Replica, why: string): Promise<void>;
}

export function createReplicas({ idleMs, probeMs, log, onEvent, onChange }: ReplicasOptions): Replicas {
  const slots = new Set<Replica>();
  let clock = 0;

  function start(entry: ModelEntry, open: LaunchServer): Replica {
    const slot = createReplica(entry, clock++);
    slots.add(slot);
    log(`starts ${entry.modelId}`);
    slot.started = launch(slot, open);
    // Everyone may have left by the time it fails.
    slot.started.catch(() => undefined);
    return slot;
  }

  async function launch(slot: Replica, open: LaunchServer): Promise<void> {
    const { modelId } = slot.entry;
    try {
      slot.instance = await open(slot.giveUp.signal);
    } catch (error) {
      slots.delete(slot);
      onChange();
      throw notStarted(modelId, (error as Error).message);
    }
    void slot.instance.ended.then((reason) => gone(slot, reason));
    // Whoever has told it to give up takes it away, and it has its room until then.
    if (slot.giveUp.signal.aborted) throw notStarted(modelId, (slot.giveUp.signal.reason as Error).message);
    slot.state = 'ready';
    onEvent({ event: 'started', modelId });
    rest(slot);
    void probe(slot);
    onChange();
  }

  /** The reason may name paths and hosts: nothing for callers. */
  function notStarted(modelId: string, reason: string): RunError {
    onEvent({ event: 'failed', modelId, reason });
    log(`${modelId} does not start: ${reason}`);
    const message = `${modelId} does not start; the gateway's log says why`;
    return new RunError('not_ready', message, { retryAfter: 5 });
  }

  async function probe(slot: Replica): Promise<void> {
    const goesOn = () => slots.has(slot) && slot.state !== 'stopping';
    if (await waitUntilSilent(slot.instance!, { everyMs: probeMs, isActive: goesOn }))
      void stop(slot, 'it does not answer');
  }

  function gone(slot: Replica, reason: string): void {
    const { modelId } = slot.entry;
    clearTimeout(slot.idle);
    slots.delete(slot);
    log(`${modelId} ${reason}`);
    onEvent({ event: 'stopped', modelId, reason });
    onChange();
  }

  function lease(slot: Replica, cold: boolean): Lease {
    slot.leases++;
    slot.used = clock++;
    clearTimeout(slot.idle);
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      slot.leases--;
      rest(slot);
      onChange();
    };
    return { url: slot.instance!.url, cold, release, suspect: () => suspect(slot) };
  }

  async function suspect(slot: Replica): Promise<void> {
    if (slot.state === 'stopping' || (await slot.instance!.isAlive())) return;
    void stop(slot, 'it does not answer');
  }

  function rest(slot: Replica): void {
    if (slot.leases > 0) return;
    const idle = () => void stop(slot, 'was idle');
    if (slot.state === 'draining') void stop(slot, 'its work is done');
    else if (slot.state === 'ready') slot.idle = setTimeout(idle, idleMs).unref();
  }

  function drain(slot: Replica, why: string): void {
    if (slot.state === 'starting') void stop(slot, why);
    if (slot.state !== 'ready') return;
    log(`${slot.entry.modelId} takes no more calls: ${why}`);
    slot.state = 'draining';
    rest(slot);
  }

  function stop(slot: Replica, why: string): Promise<void> {
    slot.stopped ??= end(slot, why);
    return slot.stopped;
  }

  async function end(slot: Replica, why: string): Promise<void> {
    slot.state = 'stopping';
    clearTimeout(slot.idle);
    log(`stops ${slot.entry.modelId}: ${why}`);
    slot.giveUp.abort(new Error(why));
    // What is starting gives up; that it failed is told where it belongs.
    await slot.started.catch(() => undefined);
    const goesOn = () => slots.has(slot);
    const tell = (reason: string) =>
      log(`${slot.entry.modelId} can't be stopped, which is tried again: ${reason}`);
    if (slot.instance) await stopWithRetries(slot.instance, { everyMs: probeMs, isActive: goesOn, tell });
  }

  return { all: slots, start, lease, drain, stop };
}
