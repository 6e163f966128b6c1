import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ByteLine, createByteLine } from '../../core/byte-line.js';
import { RunError } from '../../core/errors.js';
import { collectGarbage } from '../../memory.js';
import { decodingBytes } from '../../media/decoding-memory.js';
import { decodePixels, readHeader } from '../../media/image.js';
import type { Picture } from '../../media/pillow-resize.js';
import type { LoadRequest } from '../handle.js';
import { inMegabytes, memoryRoom } from '../memory-room.js';

/** Decodes pictures as far as memory allows: what does not fit beside the others waits for its turn. */
export interface PictureLine {
  /**
   * Decodes a picture and makes it small; its pixels are gone after that.
   * @throws RunError 413 for one that would not fit alone, or has too many pixels; 422 a broken one; the signal's reason
   */
  read<Small>(
    bytes: Uint8Array,
    shrink: (picture: Picture) => Small,
    signal: AbortSignal | undefined,
  ): Promise<Small>;
  /** To be called after each run: the first one shows how much room is left, and there is no line before it. */
  hasRun(): void;
}

/** Pixels beyond this many bytes are not left to V8, which does not see them as its own. */
const LARGE = 8 * 2 ** 20;

export function createPictureLine({ maxPixels, memory }: LoadRequest): PictureLine {
  let line: ByteLine | undefined;
  const unlimited = createByteLine(Infinity);

  return {
    hasRun() {
      line ??= createByteLine(memoryRoom(memory));
    },
    async read(bytes, shrink, signal) {
      const header = await readHeader(bytes, maxPixels);
      const needed = decodingBytes(header);
      const { enter, total } = line ?? unlimited;
      if (needed > total) throw tooLarge(header, needed, total);
      const leave = await enter(needed, signal);
      try {
        return shrink(await decodePixels(bytes, header));
      } finally {
        if (needed > LARGE) await letGo();
        leave();
      }
    },
  };
}

/** Pixels lie outside of V8's heap and are freed a turn after their object. */
async function letGo(): Promise<void> {
  await nextTurn();
  collectGarbage();
  await nextTurn();
}

function tooLarge({ width, height }: { width: number; height: number }, needed: number, total: number) {
  return new RunError(
    'payload_too_large',
    `the picture has ${width} x ${height} pixels: to decode it takes up to ${inMegabytes(needed)}, and of this server's ` +
      `memory ${inMegabytes(total)} are left; send a smaller one, or give the server more memory`,
  );
}
