import type { FileHandle } from 'node:fs/promises';
import { acquireLock, type Lock } from '../../runtime/store/lock.js';
import { GatewayError } from '../errors.js';
import { formatRows, readUsage, rewriteUsage } from './file.js';
import { createSums, type UsageRow } from './row.js';

export interface Journal {
  /** Adds to what is written next. */
  add(row: UsageRow): void;
  /** Writes the rest. */
  close(): Promise<void>;
}

export interface JournalOptions {
  log: (line: string) => void;
  /** Between writes: what a kill may lose. */
  everyMs?: number;
  /** The file is summed up again when it has grown by so many bytes, and to four times its sums. */
  growth?: number;
}

/** Longest wait for a gateway that has just been killed to be known as gone. */
const WAIT_MS = 10_000;

/**
 * Keeps usage in a file of this process alone. What came on top is appended every few seconds and is then on the disk;
 * while it can't be written, it waits in memory.
 * @throws GatewayError when the file can't be written or another process writes it
 */
export async function openJournal(file: string, options: JournalOptions): Promise<Journal> {
  const { log, everyMs = 2000, growth = 2 ** 20 } = options;
  const lock = await takeLock(file);
  let out = await openSums(file).catch(async (error: NodeJS.ErrnoException) => {
    await lock.release();
    throw error instanceof GatewayError ? error : notKept(file, error);
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
      if (!failing) log(`the usage waits in memory, for it can't be written: ${why(error as Error)}`);
      failing = true;
      return;
    }
    if (out.size > Math.max(growth, 4 * out.summed)) out = await summedUp(file, out, log);
  }

  let turn = Promise.resolve();
  const next = () => (turn = turn.then(flush));
  const timer = setInterval(next, everyMs).unref();
  return {
    add: (row) => waiting.add(row),
    async close() {
      clearInterval(timer);
      await next();
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
    throw notKept(file, error);
  });
}

interface Output {
  handle: FileHandle;
  size: number;
  /** Its size when it was summed up. */
  summed: number;
}

async function openSums(file: string): Promise<Output> {
  const { handle, size } = await rewriteUsage(file, await readUsage(file));
  return { handle, size, summed: size };
}

/** The old file goes on where there is no room for a new one. */
async function summedUp(file: string, old: Output, log: (line: string) => void): Promise<Output> {
  try {
    const fresh = await openSums(file);
    await old.handle.close();
    return fresh;
  } catch (error) {
    log(`${file} grows, for it can't be summed up: ${why(error as Error)}`);
    return { ...old, summed: old.size };
  }
}

/** All or nothing: half of what was written would be counted again. */
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

function notKept(file: string, error: Error): GatewayError {
  return new GatewayError(`the usage can't be kept in ${file}: ${why(error)}; give another --usage`);
}

function why(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' ? 'the disk is full; make room' : (code ?? error.message);
}
