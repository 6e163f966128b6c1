import { open, stat } from 'node:fs/promises';
import type { ReadProgress } from '../../core/read-progress.js';

/** Files below this are read in a second or two by any disk. */
const SMALLEST = 2 ** 30;
const PIECE = 2 ** 23;
const TELL_MS = 5000;

export interface ReadAheadOptions {
  /** Bytes of memory that the files may take while they are read; larger ones would push out what was read before. */
  room: number;
  tell(progress: ReadProgress): void;
  /** Aborted when nobody needs the files any more. */
  signal: AbortSignal;
  smallest?: number;
  tellMs?: number;
}

/**
 * Reads the files from front to back into the page cache while llama.cpp maps them: it touches weights in the order of its runs,
 * page by page, and tells nothing of it. Never throws: llama.cpp itself says what is wrong with a file.
 * @returns when all is read, or there is no reason to
 */
export async function readAhead(files: readonly string[], options: ReadAheadOptions): Promise<void> {
  const { room, tell, signal, smallest = SMALLEST, tellMs = TELL_MS } = options;
  try {
    const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
    const totalBytes = sizes.reduce((sum, size) => sum + size, 0);
    if (totalBytes < smallest || totalBytes > room) return;
    const buffer = Buffer.allocUnsafe(PIECE);
    const started = performance.now();
    let [doneBytes, told] = [0, started];
    const count = (bytes: number) => {
      signal.throwIfAborted();
      doneBytes += bytes;
      if (performance.now() - told < tellMs) return;
      told = performance.now();
      tell({ doneBytes, totalBytes, seconds: (told - started) / 1000 });
    };
    for (const file of files) await readWhole(file, buffer, count);
  } catch {
    // A file that has gone, or can't be read; or an abort.
  }
}

async function readWhole(file: string, buffer: Buffer, count: (bytes: number) => void): Promise<void> {
  const handle = await open(file);
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return;
      count(bytesRead);
    }
  } finally {
    await handle.close();
  }
}
