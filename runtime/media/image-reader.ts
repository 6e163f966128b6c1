import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ByteSemaphore, createByteSemaphore } from '../core/byte-semaphore.js';
import { RunError } from '../core/errors.js';
import { collectGarbage, inMegabytes } from '../memory.js';
import { decodingBytes, OTHER_BYTES } from './decoding-memory.js';
import { decodePixels, readHeader } from './decode-image.js';
import type { Image } from './decoded-image.js';

/** Decodes images as far as memory allows: what does not fit beside the others waits for its turn. */
export interface ImageReader {
  /**
   * Decodes an image and makes it small; its pixels are gone after that.
   * @throws RunError 413 for one that would not fit alone, or has too many pixels; 422 a broken one; the signal's reason
   */
  read<Small>(
    bytes: Uint8Array,
    shrink: (image: Image) => Small | Promise<Small>,
    signal: AbortSignal | undefined,
  ): Promise<Small>;
  /** To be called after each run: the first one shows how much memory is left; before it nothing waits. */
  hasRun(): void;
}

/** Share of that memory that unused pixels may take until V8 is told to free them. */
const GARBAGE = 0.25;

export interface ImageReaderOptions {
  /** Most pixels that an image may have. */
  maxPixels: number;
  /** Images that are decoded side by side: each keeps a core busy, and others wait for what they compute on. */
  threads: number;
  /** Bytes of memory that are left, asked once, after the first run. */
  availableBytes(): number;
}

export function createImageReader({ maxPixels, threads, availableBytes }: ImageReaderOptions): ImageReader {
  let limited: ByteSemaphore | undefined;
  const unlimited = createByteSemaphore(Infinity);
  const decoders = createByteSemaphore(threads);
  /** Pixels lie outside of V8's heap, which does not hurry to free them: they count until it has. */
  let garbage: { bytes: number; leave: () => void }[] = [];
  const garbageBytes = () => garbage.reduce((sum, { bytes }) => sum + bytes, 0);

  async function letGo(): Promise<void> {
    const gone = garbage;
    garbage = [];
    // They are freed a turn after their objects.
    await nextTurn();
    collectGarbage();
    await nextTurn();
    for (const { leave } of gone) leave();
  }

  return {
    hasRun() {
      limited ??= createByteSemaphore(availableBytes());
    },
    async read(bytes, shrink, signal) {
      const header = await readHeader(bytes, maxPixels);
      const needed = decodingBytes(header);
      const semaphore = limited ?? unlimited;
      if (needed > semaphore.total) throw tooLarge(header, needed, semaphore.total);
      const stop = await decoders.acquire(1, signal);
      try {
        if (garbage.length > 0 && semaphore.taken + needed > semaphore.total) await letGo();
        const leave = await semaphore.acquire(needed, signal);
        try {
          return await shrink(await decodePixels(bytes, header));
        } finally {
          if (semaphore === unlimited || semaphore.total === Infinity) leave();
          else garbage.push({ bytes: needed - OTHER_BYTES, leave });
          leave(OTHER_BYTES);
          if (semaphore.waiting > 0 || garbageBytes() > semaphore.total * GARBAGE) await letGo();
        }
      } finally {
        stop();
      }
    },
  };
}

function tooLarge({ width, height }: { width: number; height: number }, needed: number, total: number) {
  return new RunError(
    'payload_too_large',
    `the image has ${width} x ${height} pixels: to decode it takes up to ${inMegabytes(needed)}, and of this server's ` +
      `memory ${inMegabytes(total)} are left; send a smaller one, or give the server more memory`,
  );
}
