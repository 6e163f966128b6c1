import type { ModelEntry } from '../catalog/entry.js';
import type { Replicas } from './replicas.js';
import { totalGigabytes, leastRecentlyUsed, type Replica } from './replica.js';

/** A budget of memory, and who gets it. */
export interface MemoryBudget {
  /** It could start now, and takes nothing from those who have waited too long. */
  fits(entry: ModelEntry): boolean;
  /**
   * As `fits`; where it doesn't, makes others go, unless enough are going already: what was unused longest, never what
   * has work under way. For those who have waited too long, a busy one finishes its work and goes.
   */
  makeRoom(entry: ModelEntry): boolean;
  /** Somebody has waited too long for this model: no other gets room before it. */
  prioritize(modelId: string): void;
  /** It starts, or nobody waits for it any more. @returns true when others may have waited for that */
  clearPriority(modelId: string): boolean;
}

/** @param memoryGb for all servers together, by what their entries say or what was measured */
export function createMemoryBudget(memoryGb: number, { all: slots, stop, drain }: Replicas): MemoryBudget {
  /** Ids of models, in the order of their waiting. */
  const owed = new Set<string>();

  function fitsBeside(others: Iterable<Replica>, { ramRequired }: ModelEntry): boolean {
    return totalGigabytes(others) + ramRequired <= memoryGb;
  }

  function isTurnOf({ modelId }: ModelEntry): boolean {
    const [first] = owed;
    return first === undefined || first === modelId;
  }

  function make(entry: ModelEntry): boolean {
    if (!isTurnOf(entry)) return false;
    if (fitsBeside(slots, entry)) return true;
    const staying = [...slots].filter(({ state }) => state === 'ready' || state === 'starting');
    if (fitsBeside(staying, entry)) return false;
    // Who is expected to use one that has just started has waited for it longest.
    const may = staying.filter(({ state, expected }) => state === 'ready' && expected === 0);
    const unused = leastRecentlyUsed(may.filter(({ leases }) => leases === 0));
    if (unused) void stop(unused, 'makes room');
    else if (owed.size > 0 && may.length > 0) drain(leastRecentlyUsed(may)!, 'makes room');
    return false;
  }

  return {
    fits: (entry) => isTurnOf(entry) && fitsBeside(slots, entry),
    makeRoom: make,
    prioritize: (modelId) => void owed.add(modelId),
    clearPriority: (modelId) => owed.delete(modelId),
  };
}
