import type { RangeFile } from '../weights/read-ranges.js';
import type { Refuse } from './refusal.js';

/** The header of the largest model known has 16 MB. */
export const MAX_HEADER_BYTES = 32 * 2 ** 20;

/** Small vocabularies end in the first part; one of 262,144 tokens ends before 8 MB. */
const FIRST_BYTES = 2 ** 20;
const NEXT_BYTES = 2 ** 21;

/** Reads little-endian numbers and texts one after the other, and of the file only so much as is asked for. */
export interface ByteCursor {
  /** Of the next byte, in the file. */
  readonly at: number;
  /** Bytes of the file from here on. */
  readonly left: number;
  /** Bytes that can be taken without `load`. */
  readonly loaded: number;
  /**
   * Has so many bytes at hand.
   * @throws WeightsError where the file ends before, or the header would be longer than any
   */
  load(bytes: number): Promise<void>;
  /** The next bytes, of which so many must be loaded. A view, valid for as long as the caller holds it. */
  take(bytes: number): Buffer;
  /** The next eight bytes as a number, which stay next; beyond 2^53 it is rounded. */
  nextLength(): number;
}

export function byteCursor(file: RangeFile, refuse: Refuse): ByteCursor {
  let buffer: Buffer = Buffer.alloc(0);
  /** Of the buffer in the file, and of the next byte in the buffer. */
  let [start, next] = [0, 0];
  return {
    get at() {
      return start + next;
    },
    get left() {
      return file.size - start - next;
    },
    get loaded() {
      return buffer.length - next;
    },
    async load(bytes) {
      if (bytes <= buffer.length - next) return;
      const at = start + next;
      if (bytes > file.size - at)
        throw refuse('file-length', `is cut off: its header goes on after its ${file.size} bytes`);
      if (at + bytes > MAX_HEADER_BYTES)
        throw refuse('header-length', `has a header of more than ${MAX_HEADER_BYTES} bytes`);
      const end = start + buffer.length;
      const wanted = Math.max(bytes - (buffer.length - next), end === 0 ? FIRST_BYTES : NEXT_BYTES);
      const more = await file.read(end, Math.min(wanted, file.size - end, MAX_HEADER_BYTES - end));
      buffer = Buffer.concat([buffer.subarray(next), more]);
      [start, next] = [at, 0];
    },
    take(bytes) {
      next += bytes;
      return buffer.subarray(next - bytes, next);
    },
    nextLength: () => buffer.readUInt32LE(next) + 2 ** 32 * buffer.readUInt32LE(next + 4),
  };
}
