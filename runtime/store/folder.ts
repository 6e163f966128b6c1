import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import pLimit from 'p-limit';
import type { ModelInfo, RepoFile } from '../core/spec.js';
import { readPart } from '../weights/index.js';
import { digestOf } from './digest.js';
import { StoreError } from './errors.js';
import { modelCard } from './model-card.js';
import { isSafePath } from './paths.js';
import type { ModelSource } from './source.js';

/**
 * A local folder with the layout of a repository. Its commit is `local-` and twelve hex digits of a hash over the
 * listing, so changed content is another commit. Names with a leading dot are left out.
 */
export function folderSource(dir: string): ModelSource {
  const root = resolve(dir);
  const listing = cached(() => listFolder(root));
  return {
    async info(id, revision = 'main'): Promise<ModelInfo> {
      const files = await listing();
      const readme = files.some(({ path }) => path === 'README.md');
      const card = readme ? modelCard(await readFile(join(root, 'README.md'), 'utf8')) : { tags: [] };
      return { ...card, id, revision, commit: commitOf(files), gated: false, files, folder: root };
    },
    async readText(info, path) {
      if (!info.files.some((file) => file.path === path)) return undefined;
      return readFile(join(root, ...path.split('/')), 'utf8');
    },
    async open(_ref, file, offset, signal) {
      const path = await placeOf(root, file);
      return { offset, body: createReadStream(path, { start: offset, highWaterMark: 2 ** 20, signal }) };
    },
    async read(_ref, file, { offset, length }, signal) {
      const path = await placeOf(root, file);
      const bytes = await readPart(path, offset, length);
      signal?.throwIfAborted();
      if (bytes.length === length) return bytes;
      throw new StoreError('corrupt', `${path} has become shorter`, { remedy: 'try again' });
    },
  };
}

async function placeOf(root: string, file: RepoFile): Promise<string> {
  if (!isSafePath(file.path)) throw new StoreError('invalid', `unsafe path: ${JSON.stringify(file.path)}`);
  const path = join(root, ...file.path.split('/'));
  if (!(await stat(path).catch(() => undefined))?.isFile()) throw missingPath(path);
  return path;
}

function missingPath(path: string): StoreError {
  return new StoreError('not_found', `${path} is not there`, {
    remedy: 'check the folder given with --from',
  });
}

async function listFolder(root: string): Promise<RepoFile[]> {
  if (!(await stat(root).catch(() => undefined))?.isDirectory()) throw missingPath(root);
  const found = await walk(await linkedFolders(root), root, '');
  if (found.length === 0) throw new StoreError('not_found', `${root} holds no files`);
  // Two at a time, since hashing takes a core each.
  const limit = pLimit(2);
  const files = await Promise.all(found.map((file) => limit(() => describe(root, file))));
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function describe(root: string, { path, size }: RepoFile): Promise<RepoFile> {
  return { path, size, sha256: await digestOf(join(root, ...path.split('/')), { path, size }) };
}

/** A snapshot in the cache of the hub's Python client. */
const SNAPSHOT = /[/\\](?:models|datasets|spaces)--[^/\\]+[/\\]snapshots[/\\][^/\\]+$/;

/** Where links of a folder may lead: into itself, and from a snapshot into the blobs of the same repository. */
async function linkedFolders(root: string): Promise<readonly string[]> {
  const real = await realpath(root);
  return SNAPSHOT.test(real) ? [real, join(real, '..', '..', 'blobs')] : [real];
}

/** @throws StoreError for a link that leads out of the folder */
async function walk(allowed: readonly string[], root: string, prefix: string): Promise<RepoFile[]> {
  const files: RepoFile[] = [];
  for (const entry of await readdir(join(root, prefix), { withFileTypes: true })) {
    const path = prefix ? `${prefix}/${entry.name}` : entry.name;
    if (entry.name.startsWith('.') || !isSafePath(path)) continue;
    const real = entry.isSymbolicLink() ? await resolveInside(allowed, join(root, path)) : undefined;
    const found = real ? await stat(real) : entry;
    // Links to folders are not followed, because they could lead back to a parent.
    if (entry.isDirectory()) files.push(...(await walk(allowed, root, path)));
    else if (found.isFile()) files.push({ path, size: (await stat(join(root, path))).size });
  }
  return files;
}

async function resolveInside(allowed: readonly string[], path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined && allowed.some((folder) => real.startsWith(folder + sep))) return real;
  throw new StoreError('invalid', `${path} is a link that leads out of the folder`, {
    remedy:
      'replace the link by the file itself; links into blobs are followed in models--org--name/snapshots/COMMIT',
  });
}

function commitOf(files: readonly RepoFile[]): string {
  const lines = files.map(({ path, size, sha256 }) => `${sha256} ${size} ${path}\n`);
  return `local-${createHash('sha256').update(lines.join('')).digest('hex').slice(0, 12)}`;
}

/** Caches the result of the first successful call. */
function cached<T>(call: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= call().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}
