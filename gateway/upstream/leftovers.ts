import type { Launcher, LeftoverServer } from './upstream.js';

/** Servers of an earlier run, or of failed starts and stops. */
export interface Leftovers {
  /** @param adopt takes a server over and returns true, or it is removed */
  settle(adopt: (leftover: LeftoverServer) => boolean): Promise<void>;
  /** Removes those that are dead, while `isWanted`. If the engine does not answer, the next sweep tries again. */
  removeDead(isWanted: () => boolean): Promise<void>;
}

export function createLeftovers(launcher: Launcher, log: (line: string) => void): Leftovers {
  /** Names of those that could not be removed: said once. */
  const logged = new Set<string>();

  async function remove({ name, discard }: LeftoverServer): Promise<void> {
    try {
      await discard();
      logged.delete(name);
    } catch (error) {
      if (!logged.has(name)) log(`${name} is left over and can't be removed: ${(error as Error).message}`);
      logged.add(name);
    }
  }

  return {
    async settle(adopt) {
      for (const leftover of (await launcher.leftovers?.()) ?? [])
        if (!adopt(leftover)) await remove(leftover);
    },
    async removeDead(isWanted) {
      const all = (await launcher.leftovers?.().catch(() => [])) ?? [];
      for (const leftover of all) if (isWanted() && leftover.isDead) await remove(leftover);
    },
  };
}
