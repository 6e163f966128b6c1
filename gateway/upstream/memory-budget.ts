import type { ModelEntry } from '../catalog/entry.js';
import type { Replicas } from './replicas.js';
import { totalGigabytes, leastRecentlyUsed, type Replica } from './replica.js';

/** Decides which models may use the memory. */
export interface MemoryBudget {
  /** True if a server fits now, and no other model has priority. */
  fits(entry: ModelEntry): boolean;
  /**
   * As `fits`. If the server does not fit, stops the least recently used idle server, unless enough memory is being
   * freed already. For a model with priority, a busy server is drained if no idle one is left.
   */
  makeRoom(entry: ModelEntry): boolean;
  /** Gives the model priority because a caller has waited too long; other models get no memory before it. */
  prioritize(modelId: string): void;
  /** The model starts, or its callers have left. @returns true if it had priority, so others may proceed */
  clearPriority(modelId: string): boolean;
}

/** @param memoryGb for all servers together, by what their entries say or what was measured */
export function createMemoryBudget(memoryGb: number, { all: replicas, stop, drain }: Replicas): MemoryBudget {
  /** Model ids, in the order in which they got priority. */
  const priorities = new Set<string>();

  function fitsBeside(others: Iterable<Replica>, { ramRequired }: ModelEntry): boolean {
    return totalGigabytes(others) + ramRequired <= memoryGb;
  }

  function mayStart({ modelId }: ModelEntry): boolean {
    const [first] = priorities;
    return first === undefined || first === modelId;
  }

  function makeRoom(entry: ModelEntry): boolean {
    if (!mayStart(entry)) return false;
    if (fitsBeside(replicas, entry)) return true;
    const staying = [...replicas].filter(({ state }) => state === 'ready' || state === 'starting');
    if (fitsBeside(staying, entry)) return false;
    // A server that has just started belongs to the callers who waited for it.
    const candidates = staying.filter(({ state, expected }) => state === 'ready' && expected === 0);
    const unused = leastRecentlyUsed(candidates.filter(({ leases }) => leases === 0));
    if (unused) void stop(unused, 'makes room');
    else if (priorities.size > 0 && candidates.length > 0)
      drain(leastRecentlyUsed(candidates)!, 'makes room');
    return false;
  }

  return {
    fits: (entry) => mayStart(entry) && fitsBeside(replicas, entry),
    makeRoom,
    prioritize: (modelId) => void priorities.add(modelId),
    clearPriority: (modelId) => priorities.delete(modelId),
  };
}
