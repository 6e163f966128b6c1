import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Prefix of temporary folders of engines. */
export const SCRATCH = 'slipway-weights-';

/** Prefix of temporary folders of one process. */
export const scratchOf = (pid: number): string => `${SCRATCH}${pid}-`;

/** Removes the temporary folders of a process that was killed while loading. */
export function clearScratch(pid: number, folder = tmpdir()): void {
  try {
    for (const name of readdirSync(folder))
      if (name.startsWith(scratchOf(pid))) rmSync(join(folder, name), { recursive: true, force: true });
  } catch {
    // The folder does not exist, as in a container without /tmp.
  }
}
