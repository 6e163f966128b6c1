import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { ModelSpec, RepoFile } from '../../runtime/core/spec.js';
import { entryOf, readManifest } from '../../runtime/store/manifest.js';
import { candidateDirs } from '../../runtime/store/paths.js';

/**
 * verified: hashed before, with size and timestamp unchanged. present: the size is right, the hash is checked at its use.
 * partial: an incomplete download. missing: nothing there.
 */
export type FileState = 'verified' | 'present' | 'partial' | 'missing';

export interface CachedFile {
  path: string;
  /** Bytes of the whole file, and those present. */
  size: number;
  cachedBytes: number;
  state: FileState;
}

export interface CacheState {
  /** The folder with most of the files; the download folder if there are none. */
  folder: string;
  files: CachedFile[];
  verifiedBytes: number;
  partialBytes: number;
  /** Bytes still to be downloaded. */
  missingBytes: number;
}

/** Finds out what a cache holds of a model, without reading the files. */
export async function cachedFiles(root: string, spec: ModelSpec): Promise<CacheState> {
  const folders = await Promise.all(candidateDirs(root, spec).map((dir) => lookInto(dir, spec.files)));
  return folders.reduce((best, one) => (one.missingBytes < best.missingBytes ? one : best));
}

async function lookInto(folder: string, files: readonly RepoFile[]): Promise<CacheState> {
  const known = (await readManifest(folder)).files;
  const found = await Promise.all(
    files.map(async (file): Promise<CachedFile> => {
      const place = path.join(folder, ...file.path.split('/'));
      const { size } = file;
      const whole = await stat(place).catch(() => undefined);
      if (whole?.isFile() && whole.size === size) {
        const entry = entryOf(file, whole.mtimeMs);
        const old = known[file.path];
        const same = old?.hash === entry.hash && old.mtimeMs === entry.mtimeMs;
        return { path: file.path, size, cachedBytes: size, state: same ? 'verified' : 'present' };
      }
      const part = await stat(`${place}.part`).catch(() => undefined);
      const cachedBytes = Math.min(part?.size ?? 0, size);
      return { path: file.path, size, cachedBytes, state: cachedBytes > 0 ? 'partial' : 'missing' };
    }),
  );
  return { folder, files: found, ...sums(found) };
}

function sums(files: readonly CachedFile[]) {
  const bytes = (...states: FileState[]) =>
    files.reduce((sum, { state, cachedBytes }) => sum + (states.includes(state) ? cachedBytes : 0), 0);
  return {
    verifiedBytes: bytes('verified'),
    partialBytes: bytes('partial'),
    missingBytes: files.reduce((sum, { size, cachedBytes }) => sum + size - cachedBytes, 0),
  };
}
