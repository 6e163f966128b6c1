import type { FileHandle } from 'node:fs/promises';
import { acquireLock, type Lock } from '../../runtime/store/lock.js';
import { GatewayError } from '../errors.js';
import { formatRows, readUsage, rewriteUsage } from './file.js';
import { createSums, type UsageRow } from './row.js';

export interface Journal {
  /** Adds to the next write. */
  add(row: UsageRow): void;
  /** Writes what is left and closes the file. */
  close(): Promise<void>;
}

export interface JournalOptions {
  log: (line: string) => void;
  /** Time between two writes, and so the most that a kill may lose. */
  everyMs?: number;
  /** The file is summed up again when it is larger than this many bytes and than four times its sums. */
  growth?: number;
}

/** Longest wait for the lock: that of a gateway that was just killed becomes stale within this time. */
const WAIT_MS = 10_000;

/**
 * Keeps usage in a file that only this process writes. New amounts are appended and synced every few seconds; while
 * they can't be written, they stay in memory.
 * @throws GatewayError when the file can't be written or another process writes it
 */
export async function openJournal(file: string, options: JournalOptions): Promise<Journal> {
  const { log, everyMs = 2000, growth = 2 ** 20 } = options;
  const lock = await takeLock(file);
  let out = await openSums(file).catch(async (error: NodeJS.ErrnoException) => {
    await lock.release();
    throw error instanceof GatewayError ? error : journalError(file, error);
  });
  let waiting = createSums();
  let failing = false;

  async function flush(): Promise<void> {
    if (waiting.size === 0) return;
    const rows = waiting.rows();
    waiting = createSums();
    try {
      await lock.confirm();
      await append(out, formatRows(rows));
      if (failing) log('the usage is written again');
      failing = false;
    } catch (error) {
      for (const row of rows) waiting.add(row);
      if (!failing) log(`the usage waits in memory, for it can't be written: ${reasonOf(error as Error)}`);
      failing = true;
      return;
    }
    if (out.size > Math.max(growth, 4 * out.summedSize)) out = await sumUp(file, out, log);
  }

  let tail = Promise.resolve();
  const flushNext = () => (tail = tail.then(flush));
  const timer = setInterval(flushNext, everyMs).unref();
  return {
    add: (row) => waiting.add(row),
    async close() {
      clearInterval(timer);
      await flushNext();
      await out.handle.close();
      await lock.release();
    },
  };
}

async function takeLock(file: string): Promise<Lock> {
  const signal = AbortSignal.timeout(WAIT_MS);
  return acquireLock(`${file}.lock`, { signal, heartbeatMs: 500 }).catch((error: Error) => {
    if (signal.aborted)
      throw new GatewayError(`${file} is written by another gateway; give each its own --usage`);
    throw journalError(file, error);
  });
}

interface Output {
  handle: FileHandle;
  size: number;
  /** Size after it was last summed up. */
  summedSize: number;
}

async function openSums(file: string): Promise<Output> {
  const { handle, size } = await rewriteUsage(file, await readUsage(file));
  return { handle, size, summedSize: size };
}

/** Keeps using the old file if a new one can't be written. */
async function sumUp(file: string, old: Output, log: (line: string) => void): Promise<Output> {
  try {
    const fresh = await openSums(file);
    await old.handle.close();
    return fresh;
  } catch (error) {
    log(`${file} grows, for it can't be summed up: ${reasonOf(error as Error)}`);
    return { ...old, summedSize: old.size };
  }
}

/** Appends all or nothing: rows that were written partly would be counted twice by the next try. */
async function append(out: Output, text: string): Promise<void> {
  try {
    await out.handle.appendFile(text);
    await out.handle.datasync();
    out.size += Buffer.byteLength(text);
  } catch (error) {
    await out.handle.truncate(out.size);
    throw error;
  }
}

function journalError(file: string, error: Error): GatewayError {
  return new GatewayError(`the usage can't be kept in ${file}: ${reasonOf(error)}; give another --usage`);
}

function reasonOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' ? 'the disk is full; make room' : (code ?? error.message);
}
