import { readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';

/** What a lock file says. */
export interface LockHolder {
  token: string;
  pid: number;
  host: string;
  /** Inode of the lock file when it was made: a copy (in a committed image, a restored backup) has another. */
  ino: number;
}

export interface LockWatch {
  readonly path: string;
  /** True when the holder is gone. False for a file that is not there. */
  isStale(): Promise<boolean>;
}

/** Beats that a holder who seems to be dead must have missed. */
const MISSED_BEATS = 2.5;

/**
 * Watches a lock file over several looks. Its holder is gone when
 * - the file was seen unchanged for `staleMs`, by this process' own clock: machines may disagree about the time; or
 * - its time stamp is that old, and it was seen unchanged for a few beats; or
 * - its process is dead on this host, and the file is a few beats old: the process id alone says nothing, since
 *   containers may share a host name and number their processes alike; or
 * - it is a copy, or says nothing, and was seen unchanged for a few beats.
 */
export function watchFile(
  path: string,
  { heartbeatMs, staleMs }: { heartbeatMs: number; staleMs: number },
): LockWatch {
  let seen = { mark: '', since: performance.now() };
  return {
    path,
    async isStale() {
      const found = await stat(path).catch(() => undefined);
      if (!found) return false;
      const mark = `${found.dev} ${found.ino} ${found.mtimeMs}`;
      if (mark !== seen.mark) seen = { mark, since: performance.now() };
      const unchangedMs = performance.now() - seen.since;
      const ageMs = Date.now() - found.mtimeMs;
      const silent = unchangedMs > MISSED_BEATS * heartbeatMs;
      if (unchangedMs > staleMs || (ageMs > staleMs && silent)) return true;
      const holder = await readHolder(path);
      if (!holder || holder.ino !== found.ino) return silent;
      const missedBeats = silent || ageMs > MISSED_BEATS * heartbeatMs;
      return missedBeats && holder.host === hostname() && !isAlive(holder.pid);
    },
  };
}

/** @returns undefined when there is no file, or one that says nothing. @throws when it can't be read */
export async function readHolder(path: string): Promise<LockHolder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as LockHolder;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** False also for our own id: a lock of this very process is never found untouched for long. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
