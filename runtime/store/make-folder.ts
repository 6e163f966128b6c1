import { access, constants, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder with all above it, one after the other. Node's own recursive mkdir says ENOENT on a read-only file system,
 * and never ends on one that takes no folders (/proc); this one says what is wrong (EROFS, EACCES, ENOTSUP).
 */
export async function makeFolder(dir: string): Promise<void> {
  try {
    await makeOne(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const parent = dirname(dir);
    if (parent === dir) throw error;
    await makeFolder(parent);
    await makeOne(dir).catch(async (again: NodeJS.ErrnoException) => {
      if (again.code !== 'ENOENT') throw again;
      await access(parent, constants.W_OK);
      throw Object.assign(again, { code: 'ENOTSUP' });
    });
  }
}

/** No error when the folder is there. */
async function makeOne(dir: string): Promise<void> {
  await mkdir(dir).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST' && (await stat(dir)).isDirectory()) return;
    throw error;
  });
}
