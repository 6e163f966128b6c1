import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepoFile } from '../core/spec.js';
import { StoreError } from './errors.js';
import { PART_SUFFIX } from './paths.js';

/**
 * Refuses a download that does not fit, before it starts.
 * @param writeRemedy says where to write instead
 * @throws StoreError no_space
 */
export async function checkSpace(
  files: readonly RepoFile[],
  dir: string,
  writeRemedy: string,
): Promise<void> {
  const { bavail, bsize, blocks } = await statfs(dir);
  // Some network and user-space file systems report no size.
  if (blocks === 0) return;
  const needed = await missingBytes(files, dir, bsize);
  const free = bavail * bsize;
  if (needed <= free) return;
  const reason = `the download needs ${mebibytes(needed)} in ${dir}, ${mebibytes(free)} are free`;
  throw new StoreError('no_space', reason, { remedy: `free some space, or ${writeRemedy}` });
}

/** Disk space that the files still need, in whole blocks; parts of earlier attempts are subtracted. */
async function missingBytes(files: readonly RepoFile[], dir: string, block: number): Promise<number> {
  let needed = 0;
  for (const { path, size } of files) {
    const part = await stat(join(dir, ...path.split('/')) + PART_SUFFIX).catch(() => undefined);
    const rest = Math.max(0, size - (part?.size ?? 0));
    needed += Math.ceil(rest / block) * block;
  }
  return needed;
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}
