import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';

export interface ReplaceOptions {
  /** Mode of the new file; by default 0o666 minus the umask. */
  mode?: number;
  /** Sync the content to disk before the rename. */
  sync?: boolean;
  /** Changes owner or mode before the rename. */
  prepare?(handle: FileHandle): Promise<void>;
}

/**
 * Replaces a file atomically: readers see either the old or the new content. A failure leaves no temporary file; a
 * killed process leaves `<file>.<random>.tmp`.
 * @throws errors of the file system
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  { mode, sync = false, prepare }: ReplaceOptions = {},
): Promise<void> {
  // Random, because containers that share a folder may have the same process ids.
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      await handle.writeFile(content);
      await prepare?.(handle);
      if (sync) await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}
