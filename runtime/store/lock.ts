import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LockHolder, readHolder, watchFile, type LockWatch } from './lock-watch.js';

export interface LockOptions {
  signal?: AbortSignal | undefined;
  /** Called once when another process holds the lock. */
  onWait?: () => void;
  /** Milliseconds between two heartbeats of the holder; 2 s. */
  heartbeatMs?: number;
  /** A holder without a heartbeat for this long has died; 30 s. */
  staleMs?: number;
}

export interface Lock {
  /**
   * Call it before every step that only the holder may do. Cheap, unless this process was stopped or starved for a
   * while: then it checks that it still holds the lock.
   * @throws LockLost when another process has taken it over
   */
  confirm(): Promise<void>;
  release(): Promise<void>;
}

/** Another process has taken over the lock, because this one sent no heartbeat. */
export class LockLost extends Error {
  override name = 'LockLost';
}

/** After this many missed heartbeats, the holder checks that it still holds the lock. */
const LATE_BEATS = 3;

/**
 * Acquires the lock file at `path`; waits while a living process holds it. The holder writes the file every few
 * seconds. `lock-watch.ts` says when a lock is stale and is taken over.
 * @throws errors of the file system; the abort reason
 */
export async function acquireLock(path: string, options: LockOptions = {}): Promise<Lock> {
  const { signal, heartbeatMs = 2000, staleMs = 30_000 } = options;
  const lock = watchFile(path, { heartbeatMs, staleMs });
  const guard = watchFile(`${path}.steal`, { heartbeatMs, staleMs });
  for (let notified = false; ;) {
    signal?.throwIfAborted();
    const held = await create(path);
    if (held) return createLock(path, held, heartbeatMs);
    if (await lock.isStale()) await removeStale(lock, guard);
    else {
      if (!notified) options.onWait?.();
      notified = true;
      await sleep(Math.min(heartbeatMs / 4, 250), undefined, { signal });
    }
  }
}

interface Held {
  handle: FileHandle;
  token: string;
  text: string;
}

async function create(path: string): Promise<Held | undefined> {
  const handle = await open(path, 'wx').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return undefined;
    throw error;
  });
  if (!handle) return undefined;
  try {
    const { ino } = await handle.stat();
    const holder: LockHolder = { token: randomUUID(), pid: process.pid, host: hostname(), ino };
    const text = JSON.stringify(holder);
    await handle.write(text, 0);
    return { handle, token: holder.token, text };
  } catch (error) {
    // On a full disk the file exists but is empty.
    await handle.close();
    await unlink(path).catch(() => undefined);
    throw error;
  }
}

function createLock(path: string, { handle, token, text }: Held, heartbeatMs: number): Lock {
  let lastBeat = clocks();
  let lost = false;
  const beat = async () => {
    // Taken before the check, because this process may be stopped between check and write.
    const started = clocks();
    if ((await readHolder(path))?.token !== token) lost = true;
    if (lost) return;
    // A write sets the file system's time, which is the same for all machines that share it.
    await handle.write(text, 0).catch(() => handle.utimes(new Date(), new Date()));
    lastBeat = started;
  };
  const timer = setInterval(() => void beat().catch(() => undefined), heartbeatMs);
  timer.unref();
  return {
    async confirm() {
      if (!lost && millisecondsSince(lastBeat) > LATE_BEATS * heartbeatMs) await beat();
      if (lost) throw new LockLost('another process has taken over');
    },
    async release() {
      clearInterval(timer);
      const isOwn = (await readHolder(path).catch(() => undefined))?.token === token;
      if (isOwn) await unlink(path).catch(() => undefined);
      await handle.close().catch(() => undefined);
    },
  };
}

/** Both are needed: the monotonic clock may stop while the machine sleeps, the wall clock may be changed. */
function clocks() {
  return { wall: Date.now(), steady: performance.now() };
}

function millisecondsSince({ wall, steady }: ReturnType<typeof clocks>): number {
  return Math.max(Date.now() - wall, performance.now() - steady);
}

/** Removes a stale lock under a second lock, so that no process removes a new lock taken in the meantime. */
async function removeStale(lock: LockWatch, guard: LockWatch): Promise<void> {
  const held = await create(guard.path);
  if (!held) {
    if (await guard.isStale()) await unlink(guard.path).catch(() => undefined);
    else await sleep(50);
    return;
  }
  try {
    if (await lock.isStale()) await unlink(lock.path).catch(() => undefined);
  } finally {
    await unlink(guard.path).catch(() => undefined);
    await held.handle.close();
  }
}
