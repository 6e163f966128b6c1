import path from 'node:path';
import type { ModelSpec, RepoFile } from '../../runtime/core/spec.js';
import { checkFile, entryOf, readManifest, writeManifest } from '../../runtime/store/manifest.js';
import { downloadDir } from '../../runtime/store/paths.js';
import type { CommandDeps } from '../deps.js';
import { cacheFolder, type DecideOptions } from '../source.js';

/** Folder for files that are made of a repository's. */
export function madeFolder(
  spec: Pick<ModelSpec, 'id' | 'commit'>,
  { flags }: Pick<DecideOptions, 'flags'>,
  deps: CommandDeps,
): string {
  return downloadDir(path.join(cacheFolder(flags, deps), 'models'), spec);
}

/** The file of the recipe's name, if the manifest knows it and it has not been touched since. */
export async function verified(
  folder: string,
  { file, size }: { file: string; size: number },
): Promise<RepoFile | undefined> {
  const known = (await readManifest(folder)).files[file];
  if (!known || known.size !== size || known.hash === '') return undefined;
  const found: RepoFile = { path: file, size, sha256: known.hash };
  const { state } = await checkFile(folder, found, { known });
  return state === 'valid' ? found : undefined;
}

/** Has the manifest know a file that was made. */
export async function noteFile(folder: string, file: RepoFile): Promise<RepoFile> {
  const check = await checkFile(folder, file, {});
  if (check.state !== 'valid') throw new Error(`${file.path} was changed while it was made`);
  const { files } = await readManifest(folder);
  await writeManifest(folder, { ...files, [file.path]: entryOf(file, check.entry.mtimeMs) });
  return file;
}
