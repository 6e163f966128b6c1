import { join } from 'node:path';
import type { RepoRef } from './source.js';

/** Prefix of our own files in a model's folder; repository files may not have it. */
export const OWN_PREFIX = '.slipway';

/** Folder of the manifests of folders that are not ours. */
export const MANIFESTS = `${OWN_PREFIX}-manifests`;

/** Suffix of an unfinished download. */
export const PART_SUFFIX = '.part';

/**
 * True for a relative path with forward slashes that stays inside its folder on every system, and is not the name of
 * one of our own files.
 */
export function isSafePath(path: string): boolean {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (path.length === 0 || path.length > 1024 || /[\\:\u0000-\u001f]/.test(path)) return false;
  if (path.startsWith(OWN_PREFIX) || path.toLowerCase().endsWith(PART_SUFFIX)) return false;
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/** Download folder of a model: `<root>/<org>/<name>/<commit>`. */
export function downloadDir(root: string, { id, commit }: RepoRef): string {
  return join(root, ...id.split('/'), commit);
}

/** Folders under a root that may hold the files of a model, in the order in which they are tried. */
export function candidateDirs(root: string, ref: RepoRef): string[] {
  const cached = join(`models--${ref.id.replaceAll('/', '--')}`, 'snapshots', ref.commit);
  return [
    downloadDir(root, ref),
    join(root, ...ref.id.split('/')),
    root,
    // Layout of the Python hub client, for HF_HOME and for its `hub` folder.
    join(root, 'hub', cached),
    join(root, cached),
  ];
}
