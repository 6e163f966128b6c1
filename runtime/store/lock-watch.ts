import { readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';

/** Content of a lock file. */
export interface LockHolder {
  token: string;
  pid: number;
  host: string;
  /** Inode of the lock file at its creation; a copy (in a committed image, a restored backup) has another. */
  ino: number;
}

export interface LockWatch {
  readonly path: string;
  /** True when the holder has died. False if the file does not exist. */
  isStale(): Promise<boolean>;
}

/** Heartbeats that a dead holder must have missed. */
const MISSED_BEATS = 2.5;

/**
 * Watches a lock file over several checks. The lock is stale when
 * - the file was unchanged for `staleMs` by this process's own clock (clocks of machines may differ); or
 * - its timestamp is that old, and it was unchanged for a few heartbeats; or
 * - its process is dead on this host, and the file is a few heartbeats old (the process id alone is not enough, since
 *   containers may share host names and process ids); or
 * - it is a copy or has no content, and was unchanged for a few heartbeats.
 */
export function watchFile(
  path: string,
  { heartbeatMs, staleMs }: { heartbeatMs: number; staleMs: number },
): LockWatch {
  let lastSeen = { version: '', since: performance.now() };
  return {
    path,
    async isStale() {
      const found = await stat(path).catch(() => undefined);
      if (!found) return false;
      const version = `${found.dev} ${found.ino} ${found.mtimeMs}`;
      if (version !== lastSeen.version) lastSeen = { version, since: performance.now() };
      const unchangedMs = performance.now() - lastSeen.since;
      const ageMs = Date.now() - found.mtimeMs;
      const isSilent = unchangedMs > MISSED_BEATS * heartbeatMs;
      if (unchangedMs > staleMs || (ageMs > staleMs && isSilent)) return true;
      const holder = await readHolder(path);
      if (!holder || holder.ino !== found.ino) return isSilent;
      const missedBeats = isSilent || ageMs > MISSED_BEATS * heartbeatMs;
      return missedBeats && holder.host === hostname() && !isAlive(holder.pid);
    },
  };
}

/** @returns undefined when the file does not exist or is not JSON. @throws when it can't be read */
export async function readHolder(path: string): Promise<LockHolder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as LockHolder;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** False also for our own id: this process touches its own locks, so an old file is not its own. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
