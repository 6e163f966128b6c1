import { constants, createReadStream } from 'node:fs';
import { type FileHandle, lstat, open, rename, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Hash } from 'node:crypto';
import type { RepoFile } from '../core/spec.js';
import { expectedDigest, startDigest } from './digest.js';
import { StoreError } from './errors.js';
import { makeFolder } from './make-folder.js';
import { PART_SUFFIX } from './paths.js';
import { syncFolder } from './sync-folder.js';

/**
 * An unfinished download: `<file>.part`, with a running hash. Only `finish` gives it its final name. Every change calls
 * `confirm` first, so that a process that was stopped for long does not overwrite the file of its successor.
 */
export interface PartFile {
  /** Bytes that are present and hashed. */
  readonly length: number;
  append(chunk: Uint8Array): Promise<void>;
  /** Starts again with an empty file. */
  reset(): Promise<void>;
  /** True when length and hash match the listing. */
  isValid(): boolean;
  /** Syncs the file and gives it its final name. @returns the file's timestamp in milliseconds */
  finish(): Promise<number>;
  /** Closes the file; its bytes stay for the next attempt. No effect after `finish`. */
  close(): Promise<void>;
}

export interface PartOptions {
  signal?: AbortSignal | undefined;
  /** Throws when this process must not write any more. */
  confirm?: () => Promise<void>;
}

/** Opens or creates the part of the file at `path`, and hashes what an earlier attempt left. */
export async function openPart(path: string, file: RepoFile, options: PartOptions = {}): Promise<PartFile> {
  const { signal, confirm = async () => undefined } = options;
  await makeFolder(dirname(path));
  await refuseFolder(path);
  await confirm();
  const partPath = path + PART_SUFFIX;
  let handle = await openPlain(partPath);
  let hash: Hash = startDigest(file);
  let length = 0;
  let closed = false;

  const part: PartFile = {
    get length() {
      return length;
    },
    async append(chunk) {
      await confirm();
      await writeFully(handle, chunk, length);
      hash.update(chunk);
      length += chunk.length;
    },
    async reset() {
      await confirm();
      // A new file, because another process may have the old one open or may have renamed it.
      await removeTarget(partPath);
      await handle.close();
      handle = await openPlain(partPath);
      hash = startDigest(file);
      length = 0;
    },
    isValid() {
      const expected = expectedDigest(file);
      return length === file.size && (!expected || hash.copy().digest('hex') === expected.hex);
    },
    async finish() {
      await handle.truncate(length);
      const mtime = await setWholeSecondTime(handle);
      await handle.sync();
      await part.close();
      await confirm();
      await rename(partPath, path).catch(async (error: NodeJS.ErrnoException) => {
        await confirm();
        throw error.code === 'ENOENT' ? removedError(partPath) : error;
      });
      // Some file systems can't sync folders.
      await syncFolder(dirname(path)).catch(() => undefined);
      return mtime;
    },
    async close() {
      if (closed) return;
      closed = true;
      await handle.close();
    },
  };

  try {
    const { size } = await handle.stat();
    length = await hashExisting(partPath, { size, file, hash, signal });
    if (length < size) await part.reset();
    return part;
  } catch (error) {
    await part.close();
    throw error;
  }
}

function removedError(path: string): StoreError {
  return new StoreError('storage', `${path} was removed while it was written`, { remedy: 'try again' });
}

/** A folder with the final name would make the rename fail after the whole download. */
async function refuseFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR', path });
}

/** Never follows a link, which could redirect the download. */
async function openPlain(path: string): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
  try {
    return await open(path, flags, 0o644);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ELOOP') throw error;
    await unlink(path);
    return open(path, flags, 0o644);
  }
}

async function hashExisting(
  path: string,
  { size, file, hash, signal }: { size: number; file: RepoFile; hash: Hash; signal: AbortSignal | undefined },
): Promise<number> {
  if (size === 0 || size > file.size) return 0;
  for await (const chunk of createReadStream(path, { end: size - 1, highWaterMark: 2 ** 20, signal }))
    hash.update(chunk);
  return size;
}

/** Image layers keep whole seconds; such a timestamp keeps the manifest valid in a committed container. */
async function setWholeSecondTime(handle: FileHandle): Promise<number> {
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

/** Removes the file at a final name. A folder is removed only if it is empty. */
export async function removeTarget(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isDirectory()) return rmdir(path);
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}
