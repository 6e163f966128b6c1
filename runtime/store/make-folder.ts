import { access, constants, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder with all above it. Node's own recursive mkdir says ENOENT on a read-only file system; this one says
 * what is wrong (EROFS, EACCES).
 */
export async function makeFolder(dir: string): Promise<void> {
  try {
    await mkdir(dir, { recursive: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') await access(await nearest(dir), constants.W_OK);
    throw error;
  }
}

/** The folder itself or the nearest one above it that exists. */
async function nearest(dir: string): Promise<string> {
  const exists = await stat(dir).then(
    () => true,
    () => false,
  );
  return exists ? dir : nearest(dirname(dir));
}
