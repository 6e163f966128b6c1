import { constants, createReadStream } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Hash } from 'node:crypto';
import type { RepoFile } from '../core/spec.js';
import { expectedDigest, startDigest } from './digest.js';
import { makeFolder } from './make-folder.js';

/** A download under way: `<file>.part`, with a running hash. Only `finish` gives it its final name. */
export interface PartFile {
  /** Bytes that are there and hashed. */
  readonly length: number;
  append(chunk: Uint8Array): Promise<void>;
  /** Starts again from nothing. */
  reset(): Promise<void>;
  /** True when length and hash are what the listing announced. */
  isRight(): boolean;
  /** Makes the bytes durable and moves them to their final name. @returns the file's time stamp in milliseconds */
  finish(): Promise<number>;
  /** Gives up the handle; the bytes stay for the next attempt. Harmless after `finish`. */
  close(): Promise<void>;
}

/** Opens or creates the part of the file that shall lie at `path`, and hashes what an earlier attempt left. */
export async function openPart(path: string, file: RepoFile, signal?: AbortSignal): Promise<PartFile> {
  await makeFolder(dirname(path));
  const partPath = `${path}.part`;
  const handle = await open(partPath, constants.O_RDWR | constants.O_CREAT, 0o644);
  let hash: Hash = startDigest(file);
  let length = 0;
  let closed = false;

  const part: PartFile = {
    get length() {
      return length;
    },
    async append(chunk) {
      await writeFully(handle, chunk, length);
      hash.update(chunk);
      length += chunk.length;
    },
    async reset() {
      await handle.truncate(0);
      hash = startDigest(file);
      length = 0;
    },
    isRight() {
      const expected = expectedDigest(file);
      return length === file.size && (!expected || hash.copy().digest('hex') === expected.hex);
    },
    async finish() {
      await handle.truncate(length);
      const mtime = await stampWholeSecond(handle);
      await handle.sync();
      await part.close();
      await rename(partPath, path);
      await syncFolder(dirname(path));
      return mtime;
    },
    async close() {
      if (closed) return;
      closed = true;
      await handle.close();
    },
  };

  try {
    length = await hashExisting(partPath, { size: (await handle.stat()).size, file, hash, signal });
    if (length === 0) await part.reset();
    return part;
  } catch (error) {
    await part.close();
    throw error;
  }
}

async function hashExisting(
  path: string,
  { size, file, hash, signal }: { size: number; file: RepoFile; hash: Hash; signal?: AbortSignal },
): Promise<number> {
  if (size === 0 || size > file.size) return 0;
  for await (const chunk of createReadStream(path, { end: size - 1, highWaterMark: 2 ** 20, signal }))
    hash.update(chunk);
  return size;
}

/** Image layers keep whole seconds: with such a time stamp the manifest stays true in a committed container. */
async function stampWholeSecond(handle: FileHandle): Promise<number> {
  const seconds = Math.floor(Date.now() / 1000);
  await handle.utimes(seconds, seconds);
  return (await handle.stat()).mtimeMs;
}

async function writeFully(handle: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < chunk.length;) {
    const { bytesWritten } = await handle.write(chunk, done, chunk.length - done, position + done);
    done += bytesWritten;
  }
}

/** Makes the new name durable. Not every file system lets a folder be synced. */
async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

/** Removes the file at its final name, so that nothing uses it any more. */
export async function discard(path: string): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}
