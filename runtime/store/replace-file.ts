import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';

export interface ReplaceOptions {
  /** Of a new file; 0o666 less the umask. */
  mode?: number;
  /** The content is on disk before the name leads to it. */
  sync?: boolean;
  /** Changes owner or mode before the file is there. */
  prepare?(handle: FileHandle): Promise<void>;
}

/**
 * Writes a file at one stroke: a reader finds all of the old content or all of the new one. What was begun is removed when
 * it fails; a process that is killed leaves `<file>.<random>.tmp`.
 * @throws what the file system throws
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  { mode, sync = false, prepare }: ReplaceOptions = {},
): Promise<void> {
  // Not the process id: containers that share a folder number their processes alike.
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
