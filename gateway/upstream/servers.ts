import { RunError } from '../../runtime/core/errors.js';
import type { ModelEntry } from '../catalog/entry.js';
import { newSlot, type Slot } from './slot.js';
import { isSilentAtLast, stopForSure } from './supervision.js';
import type { Instance, Lease, ModelEvent } from './upstream.js';

export interface ServersOptions {
  idleMs: number;
  /** Between two looks at a server that runs, and two tries to stop one that can't be stopped. */
  probeMs: number;
  log: (line: string) => void;
  onEvent: (event: ModelEvent) => void;
  /** Called whenever a server has come, gone or become free. */
  onChange(): void;
}

export type Open = (signal: AbortSignal) => Promise<Instance>;

/** The life of servers: started, leased, idle, drained, stopped. Which of them are wanted is the caller's to decide. */
export interface Servers {
  /** All that are there or on their way. */
  readonly slots: ReadonlySet<Slot>;
  start(entry: ModelEntry, open: Open): Slot;
  /** Of one that is ready. */
  lease(slot: Slot, cold: boolean): Lease;
  /** No more calls; stops it when those under way are done. */
  drain(slot: Slot, why: string): void;
  /** Resolves when it is gone. */
  stop(slot: Slot, why: string): Promise<void>;
}

export function createServers({ idleMs, probeMs, log, onEvent, onChange }: ServersOptions): Servers {
  const slots = new Set<Slot>();
  let clock = 0;

  function start(entry: ModelEntry, open: Open): Slot {
    const slot = newSlot(entry, clock++);
    slots.add(slot);
    log(`starts ${entry.modelId}`);
    slot.started = launch(slot, open);
    // Everyone may have left by the time it fails.
    slot.started.catch(() => undefined);
    return slot;
  }

  async function launch(slot: Slot, open: Open): Promise<void> {
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

  async function probe(slot: Slot): Promise<void> {
    const goesOn = () => slots.has(slot) && slot.state !== 'stopping';
    if (await isSilentAtLast(slot.instance!, { everyMs: probeMs, goesOn }))
      void stop(slot, 'it does not answer');
  }

  function gone(slot: Slot, reason: string): void {
    const { modelId } = slot.entry;
    clearTimeout(slot.idle);
    slots.delete(slot);
    log(`${modelId} ${reason}`);
    onEvent({ event: 'stopped', modelId, reason });
    onChange();
  }

  function lease(slot: Slot, cold: boolean): Lease {
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

  async function suspect(slot: Slot): Promise<void> {
    if (slot.state === 'stopping' || (await slot.instance!.lives())) return;
    void stop(slot, 'it does not answer');
  }

  function rest(slot: Slot): void {
    if (slot.leases > 0) return;
    const idle = () => void stop(slot, 'was idle');
    if (slot.state === 'draining') void stop(slot, 'its work is done');
    else if (slot.state === 'ready') slot.idle = setTimeout(idle, idleMs).unref();
  }

  function drain(slot: Slot, why: string): void {
    if (slot.state === 'starting') void stop(slot, why);
    if (slot.state !== 'ready') return;
    log(`${slot.entry.modelId} takes no more calls: ${why}`);
    slot.state = 'draining';
    rest(slot);
  }

  function stop(slot: Slot, why: string): Promise<void> {
    slot.stopped ??= end(slot, why);
    return slot.stopped;
  }

  async function end(slot: Slot, why: string): Promise<void> {
    slot.state = 'stopping';
    clearTimeout(slot.idle);
    log(`stops ${slot.entry.modelId}: ${why}`);
    slot.giveUp.abort(new Error(why));
    // What is starting gives up; that it failed is told where it belongs.
    await slot.started.catch(() => undefined);
    const goesOn = () => slots.has(slot);
    const tell = (reason: string) =>
      log(`${slot.entry.modelId} can't be stopped, which is tried again: ${reason}`);
    if (slot.instance) await stopForSure(slot.instance, { everyMs: probeMs, goesOn, tell });
  }

  return { slots, start, lease, drain, stop };
}
