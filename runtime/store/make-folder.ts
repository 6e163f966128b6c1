import { access, constants, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder and its parents. Node's recursive mkdir reports ENOENT on a read-only file system and never returns
 * on one without support for folders (/proc); this one throws EROFS, EACCES or ENOTSUP.
 */
export async function makeFolder(dir: string): Promise<void> {
  try {
    await makeSingle(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const parent = dirname(dir);
    if (parent === dir) throw error;
    await makeFolder(parent);
    await makeSingle(dir).catch(async (secondError: NodeJS.ErrnoException) => {
      if (secondError.code !== 'ENOENT') throw secondError;
      await access(parent, constants.W_OK);
      throw Object.assign(secondError, { code: 'ENOTSUP' });
    });
  }
}

/** No error when the folder exists. */
async function makeSingle(dir: string): Promise<void> {
  await mkdir(dir).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST' && (await stat(dir)).isDirectory()) return;
    throw error;
  });
}
