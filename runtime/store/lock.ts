import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LockHolder, readHolder, watchFile, type LockWatch } from './lock-watch.js';

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
  /**
   * To be called before every step that must be the holder's alone. Cheap, but for a process that was stopped or
   * starved for a while: then it looks whether the lock is still its own.
   * @throws LockLost when another process has taken it over
   */
  confirm(): Promise<void>;
  release(): Promise<void>;
}

/** Another process has taken the lock over, because this one showed no sign of life. */
export class LockLost extends Error {
  override name = 'LockLost';
}

/** This many beats late, a holder looks before it goes on. */
const LATE_BEATS = 3;

/**
 * Takes the lock file at `path`, waiting while a living process holds it. The holder touches the file every few
 * seconds. When a lock is taken over: see `lock-watch.ts`.
 * @throws what the file system throws; the signal's reason
 */
export async function acquireLock(path: string, options: LockOptions = {}): Promise<Lock> {
  const { signal, heartbeatMs = 2000, staleMs = 30_000 } = options;
  const lock = watchFile(path, { heartbeatMs, staleMs });
  const guard = watchFile(`${path}.steal`, { heartbeatMs, staleMs });
  for (let told = false; ;) {
    signal?.throwIfAborted();
    const held = await create(path);
    if (held) return hold(path, held, heartbeatMs);
    if (await lock.isStale()) await takeAway(lock, guard);
    else {
      if (!told) options.onWait?.();
      told = true;
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
    // On a full disk the file is there, but says nothing.
    await handle.close();
    await unlink(path).catch(() => undefined);
    throw error;
  }
}

function hold(path: string, { handle, token, text }: Held, heartbeatMs: number): Lock {
  let beaten = clocks();
  let lost = false;
  const beat = async () => {
    // As of now: this process may be stopped between the look and the touch.
    const started = clocks();
    if ((await readHolder(path))?.token !== token) lost = true;
    if (lost) return;
    // Written rather than stamped: the time is then the file system's, the same for all machines that share it.
    await handle.write(text, 0).catch(() => handle.utimes(new Date(), new Date()));
    beaten = started;
  };
  const timer = setInterval(() => void beat().catch(() => undefined), heartbeatMs);
  timer.unref();
  return {
    async confirm() {
      if (!lost && millisecondsSince(beaten) > LATE_BEATS * heartbeatMs) await beat();
      if (lost) throw new LockLost('another process has taken over');
    },
    async release() {
      clearInterval(timer);
      const mine = (await readHolder(path).catch(() => undefined))?.token === token;
      if (mine) await unlink(path).catch(() => undefined);
      await handle.close().catch(() => undefined);
    },
  };
}

/** Neither alone is enough: one stands still while a machine sleeps, the other may be set. */
function clocks() {
  return { wall: Date.now(), steady: performance.now() };
}

function millisecondsSince({ wall, steady }: ReturnType<typeof clocks>): number {
  return Math.max(Date.now() - wall, performance.now() - steady);
}

/** Removes a stale lock under a second lock, so that nobody removes the fresh one of who came first. */
async function takeAway(lock: LockWatch, guard: LockWatch): Promise<void> {
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
