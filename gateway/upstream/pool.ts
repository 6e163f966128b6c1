import { RunError } from '../../runtime/core/errors.js';
import type { ModelEntry } from '../catalog/entry.js';
import type { Instance, Launcher, Lease, ModelEvent, RunningModel, Upstream } from './upstream.js';
import { createLine } from './waiting-line.js';

export interface PoolOptions {
  launcher: Launcher;
  /** GB that all running models together may take, by what their entries say. */
  memoryGb: number;
  /** A model that nobody has asked for so long is stopped. */
  idleMs: number;
  /** Callers that may wait for a model to start, or for room. */
  maxWaiting: number;
  log: (line: string) => void;
  onEvent?: (event: ModelEvent) => void;
}

interface Slot {
  entry: ModelEntry;
  state: 'starting' | 'ready' | 'stopping';
  instance?: Instance;
  leases: number;
  /** Turn of its last use; the smallest goes first. */
  used: number;
  idle?: NodeJS.Timeout;
  giveUp: AbortController;
  /** Settles when the start has succeeded or failed. */
  started: Promise<void>;
}

/**
 * Starts models when they are asked for, within a budget of memory. What has been unused longest goes first, never what
 * has work under way; what nobody wants any more is stopped after a while. A model that ends is started again by the
 * next call.
 */
export function createPool(options: PoolOptions): Upstream {
  const { launcher, memoryGb, idleMs, maxWaiting, log, onEvent = () => {} } = options;
  const slots = new Map<string, Slot>();
  const line = createLine(maxWaiting);
  let clock = 0;
  let closed = false;

  async function acquire(entry: ModelEntry, signal: AbortSignal): Promise<Lease> {
    refuseTooLarge(entry, memoryGb);
    let cold = false;
    for (;;) {
      signal.throwIfAborted();
      if (closed) throw new RunError('not_ready', 'the gateway is stopping');
      const slot = slots.get(entry.modelId) ?? (hasRoom(entry) ? start(entry) : undefined);
      if (slot?.state === 'ready') return lease(slot, cold);
      cold ||= slot?.state === 'starting';
      // A start that fails does so for all who wait for it.
      await line.wait(slot?.state === 'starting' ? slot.started : line.change(), signal);
    }
  }

  /** True when it fits now; else makes the one that was unused longest go, unless enough is going already. */
  function hasRoom({ ramRequired }: ModelEntry): boolean {
    const all = [...slots.values()];
    const going = all.filter(({ state }) => state === 'stopping');
    const taken = gigabytes(all);
    if (taken + ramRequired <= memoryGb) return true;
    if (taken - gigabytes(going) + ramRequired > memoryGb) {
      const idle = all.filter(({ state, leases }) => state === 'ready' && leases === 0);
      const oldest = idle.sort((a, b) => a.used - b.used)[0];
      if (oldest) void stop(oldest, 'makes room');
    }
    return false;
  }

  function start(entry: ModelEntry): Slot {
    log(`starts ${entry.modelId}`);
    const slot = newSlot(entry, clock++);
    slots.set(entry.modelId, slot);
    slot.started = launch(slot);
    // Everyone may have left by the time it fails.
    slot.started.catch(() => undefined);
    return slot;
  }

  async function launch(slot: Slot): Promise<void> {
    const { entry } = slot;
    try {
      slot.instance = await launcher.launch(entry, slot.giveUp.signal);
    } catch (error) {
      slots.delete(entry.modelId);
      line.wake();
      onEvent({ event: 'failed', modelId: entry.modelId, reason: (error as Error).message });
      throw new RunError('not_ready', `${entry.modelId} does not start: ${(error as Error).message}`);
    }
    void slot.instance.ended.then((reason) => gone(slot, reason));
    slot.state = 'ready';
    onEvent({ event: 'started', modelId: entry.modelId });
    rest(slot);
    line.wake();
  }

  function gone(slot: Slot, reason: string): void {
    clearTimeout(slot.idle);
    if (slots.get(slot.entry.modelId) === slot) slots.delete(slot.entry.modelId);
    log(`${slot.entry.modelId} ${reason}`);
    onEvent({ event: 'stopped', modelId: slot.entry.modelId, reason });
    line.wake();
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
      line.wake();
    };
    return { url: slot.instance!.url, cold, release };
  }

  function rest(slot: Slot): void {
    if (slot.leases > 0 || slot.state !== 'ready') return;
    slot.idle = setTimeout(() => void stop(slot, 'was idle'), idleMs).unref();
  }

  async function stop(slot: Slot, why: string): Promise<void> {
    if (slot.state === 'stopping') return;
    slot.state = 'stopping';
    clearTimeout(slot.idle);
    log(`stops ${slot.entry.modelId}: ${why}`);
    slot.giveUp.abort(new Error('the gateway is stopping'));
    await slot.instance?.stop();
  }

  return {
    acquire,
    status: () => [...slots.values()].map(rowOf),
    async close() {
      closed = true;
      line.wake();
      await Promise.all([...slots.values()].map((slot) => stop(slot, 'the gateway ends')));
    },
  };
}

function newSlot(entry: ModelEntry, used: number): Slot {
  const started = Promise.resolve();
  return { ...{ entry, used, started }, state: 'starting', leases: 0, giveUp: new AbortController() };
}

function rowOf({ entry, state, leases }: Slot): RunningModel {
  return { modelId: entry.modelId, state, leases, ramRequired: entry.ramRequired };
}

function gigabytes(slots: readonly Slot[]): number {
  return slots.reduce((sum, { entry }) => sum + entry.ramRequired, 0);
}

function refuseTooLarge({ modelId, ramRequired }: ModelEntry, memoryGb: number): void {
  if (ramRequired <= memoryGb) return;
  const why = `${modelId} takes ${ramRequired} GB, and this gateway has ${memoryGb} GB for models`;
  throw new RunError('overloaded', why, { retryAfter: 3600 });
}
