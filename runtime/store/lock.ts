import { randomUUID } from 'node:crypto';
import { open, readFile, stat, unlink, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LockOptions {
  signal?: AbortSignal | undefined;
  /** Called once when another process holds the lock. */
  onWait?: () => void;
  /** Milliseconds between signs of life of the holder; 2 s. */
  heartbeatMs?: number;
  /** A holder that has shown no life for so long is gone; 30 s. */
  staleMs?: number;
}

export interface Lock {
  release(): Promise<void>;
}

interface Holder {
  token: string;
  pid: number;
  host: string;
}

/**
 * Takes the lock file at `path`, waiting while a living process holds it. The holder touches the file every few
 * seconds. A lock is taken over when it went untouched for `staleMs`, or for a few heartbeats when its process is
 * dead: the process id alone says nothing, since containers may share a host name and number their processes alike.
 * @throws what the file system throws; the signal's reason
 */
export async function acquireLock(path: string, options: LockOptions = {}): Promise<Lock> {
  const { signal, heartbeatMs = 2000 } = options;
  const mine: Holder = { token: randomUUID(), pid: process.pid, host: hostname() };
  for (let told = false; ; told = true) {
    signal?.throwIfAborted();
    if (await create(path, mine)) return hold(path, mine, heartbeatMs);
    if (await isStale(path, options)) await takeAway(path, options);
    else {
      if (!told) options.onWait?.();
      await sleep(Math.min(heartbeatMs / 4, 250), undefined, { signal });
    }
  }
}

async function create(path: string, holder: Holder): Promise<boolean> {
  try {
    const handle = await open(path, 'wx');
    await handle.writeFile(JSON.stringify(holder)).finally(() => handle.close());
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function hold(path: string, mine: Holder, heartbeatMs: number): Lock {
  const timer = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, heartbeatMs);
  timer.unref();
  return {
    async release() {
      clearInterval(timer);
      if ((await readHolder(path))?.token === mine.token) await unlink(path).catch(() => undefined);
    },
  };
}

async function isStale(
  path: string,
  { heartbeatMs = 2000, staleMs = 30_000 }: LockOptions,
): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return false;
  const silentMs = Date.now() - found.mtimeMs;
  if (silentMs > staleMs) return true;
  const holder = await readHolder(path);
  return silentMs > 2.5 * heartbeatMs && holder?.host === hostname() && !isAlive(holder.pid);
}

/** Removes a stale lock under a second lock, so that nobody removes the fresh one of who came first. */
async function takeAway(path: string, options: LockOptions): Promise<void> {
  const guard = `${path}.steal`;
  const { staleMs = 30_000 } = options;
  const mine: Holder = { token: randomUUID(), pid: process.pid, host: hostname() };
  if (!(await create(guard, mine))) {
    const found = await stat(guard).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > staleMs) await unlink(guard).catch(() => undefined);
    else await sleep(50);
    return;
  }
  try {
    if (await isStale(path, options)) await unlink(path).catch(() => undefined);
  } finally {
    await unlink(guard).catch(() => undefined);
  }
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder;
  } catch {
    return undefined;
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
