import { RunError } from '../../runtime/core/errors.js';
import type { ModelEntry } from '../catalog/entry.js';
import { newSlot, type Slot } from './slot.js';
import type { Instance, Lease, ModelEvent } from './upstream.js';

export interface ServersOptions {
  idleMs: number;
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

export function createServers({ idleMs, log, onEvent, onChange }: ServersOptions): Servers {
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
      if (slot.giveUp.signal.aborted) await slot.instance.stop();
      slot.giveUp.signal.throwIfAborted();
    } catch (error) {
      const reason = (error as Error).message;
      slots.delete(slot);
      onChange();
      onEvent({ event: 'failed', modelId, reason });
      log(`${modelId} does not start: ${reason}`);
      // The reason may name paths and hosts: nothing for callers.
      throw new RunError('not_ready', `${modelId} does not start; the gateway's log says why`, {
        retryAfter: 5,
      });
    }
    void slot.instance.ended.then((reason) => gone(slot, reason));
    slot.state = 'ready';
    onEvent({ event: 'started', modelId });
    rest(slot);
    onChange();
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
    await slot.instance?.stop();
  }

  return { slots, start, lease, drain, stop };
}
