import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { folderSource } from '../../runtime/store/folder.js';
import type { ModelSource } from '../../runtime/store/source.js';

/**
 * A model's folder in the cache as a source: the requested commit, else the one fetched last.
 * @returns undefined when there is none
 */
export async function cacheSource(
  root: string,
  { id, revision = 'main' }: { id: string; revision?: string | undefined },
): Promise<{ source: ModelSource; commit: string } | undefined> {
  const folder = path.join(root, ...id.split('/'));
  const commits = await commitsIn(folder);
  const asked = commits.find((commit) => commit === revision);
  const isName = !/^[0-9a-f]{40}$/.test(revision);
  const commit = asked ?? (isName ? commits[0] : undefined);
  if (commit === undefined) return undefined;
  const files = folderSource(path.join(folder, commit));
  return {
    commit,
    source: { ...files, info: async () => ({ ...(await files.info(id, revision)), commit }) },
  };
}

/** Commits in the folder, the latest first. */
async function commitsIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^[0-9a-f]{40}$/.test(name));
  const times = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).mtimeMs));
  return names
    .map((name, i) => ({ name, time: times[i]! }))
    .sort((a, b) => b.time - a.time)
    .map(({ name }) => name);
}
