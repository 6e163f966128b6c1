import { WeightsError } from './errors.js';
import type { RangeSource, WeightFile } from './types.js';

/** Called with the number of bytes of each part that was read. */
export type OnRead = (bytes: number) => void;

/** A file that is read in parts, never outside of its listed size. */
export interface RangeFile extends WeightFile {
  /**
   * Exactly `length` bytes from `offset`.
   * @throws WeightsError short-read, or what the source throws
   */
  read(offset: number, length: number): Promise<Buffer>;
}

export interface RangeOptions {
  signal?: AbortSignal | undefined;
  onRead?: OnRead | undefined;
}

/** One file of a source. */
export function rangeFile(
  source: RangeSource,
  { path, size }: WeightFile,
  { signal, onRead }: RangeOptions = {},
): RangeFile {
  return {
    path,
    size,
    async read(offset, length) {
      checkInside({ path, size }, offset, length);
      signal?.throwIfAborted();
      if (length === 0) return Buffer.alloc(0);
      const bytes = await source.read(path, offset, length, signal);
      signal?.throwIfAborted();
      onRead?.(bytes.length);
      if (bytes.length === length) return Buffer.from(bytes.buffer, bytes.byteOffset, length);
      throw new WeightsError(path, {
        code: 'short-read',
        what: `gave ${bytes.length} of ${length} bytes at ${offset}`,
        remedy: 'try again; if it stays, the file is shorter than the repository says',
      });
    },
  };
}

/** Callers check what files say before they read by it. */
function checkInside({ path, size }: WeightFile, offset: number, length: number): void {
  if (offset >= 0 && length >= 0 && offset + length <= size) return;
  throw new RangeError(`${path}: ${offset} + ${length} is outside of its ${size} bytes`);
}

/** The file with its first and last bytes read: reads inside of them make no request. */
export async function withEnds(
  file: RangeFile,
  headBytes: number,
  tailBytes: number,
): Promise<{ file: RangeFile; head: Buffer }> {
  const headLength = Math.min(file.size, headBytes);
  const tailStart = Math.max(headLength, file.size - tailBytes);
  const [head, tail] = await Promise.all([
    file.read(0, headLength),
    file.read(tailStart, file.size - tailStart),
  ]);
  const read: RangeFile['read'] = async (offset, length) => {
    checkInside(file, offset, length);
    if (offset >= tailStart) return tail.subarray(offset - tailStart, offset - tailStart + length);
    if (offset + length <= headLength) return head.subarray(offset, offset + length);
    if (tailStart > headLength) return file.read(offset, length);
    return Buffer.concat([head, tail]).subarray(offset, offset + length);
  };
  return { file: { ...file, read }, head };
}

const LFS_POINTER = Buffer.from('version https://git-lfs');

/**
 * Refuses a pointer of Git LFS, which lies in place of the file in clones made without git-lfs.
 * @param head first bytes of the file
 */
export function refuseLfsPointer(path: string, head: Buffer): void {
  if (!head.subarray(0, LFS_POINTER.length).equals(LFS_POINTER)) return;
  throw new WeightsError(path, {
    code: 'lfs-pointer',
    what: 'is a pointer of Git LFS, not the weights',
    remedy: 'fetch the files of the repository with `git lfs pull`',
  });
}

/** Lets other work of the event loop run. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
