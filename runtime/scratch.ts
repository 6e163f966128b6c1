import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Begin of the names of all folders that engines make for a while. */
export const SCRATCH = 'slipway-weights-';

/** Begin of the names of those that one process makes. */
export const scratchOf = (pid: number): string => `${SCRATCH}${pid}-`;

/** Removes what a process has left behind that was killed while it loaded. */
export function clearScratch(pid: number, folder = tmpdir()): void {
  try {
    for (const name of readdirSync(folder))
      if (name.startsWith(scratchOf(pid))) rmSync(join(folder, name), { recursive: true, force: true });
  } catch {
    // No such folder: a container without a /tmp. Then nothing was left there.
  }
}
