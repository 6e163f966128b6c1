import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import type { RepoFile } from '../core/spec.js';
import { digestOf, expectedDigest } from './digest.js';
import { isSafePath, OWN_PREFIX } from './paths.js';
import { makeFolder } from './make-folder.js';
import { replaceFile } from './replace-file.js';

export const MANIFEST_NAME = `${OWN_PREFIX}.json`;

const entry = z.object({ size: z.number(), hash: z.string(), mtimeMs: z.number() });

/** Verified files: one that still has this size and timestamp is not hashed again. */
const manifest = z.object({ version: z.literal(1), files: z.record(z.string(), entry) });

export type ManifestEntry = z.output<typeof entry>;
export type Manifest = z.output<typeof manifest>;

/** The manifest of a folder; empty if there is none or it can't be read. */
export function readManifest(dir: string): Promise<Manifest> {
  return readManifestFile(join(dir, MANIFEST_NAME));
}

async function readManifestFile(file: string): Promise<Manifest> {
  try {
    return manifest.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return { version: 1, files: {} };
  }
}

/** Where manifests of folders lie that are not ours: in a folder of ours, under the hash of their path. */
const keptFile = (kept: string, dir: string): string =>
  join(kept, `${createHash('sha256').update(resolve(dir)).digest('hex').slice(0, 32)}.json`);

/** What is known of a folder, by its own manifest and by that which is kept for it elsewhere. */
export async function knownFiles(dir: string, kept: string | undefined): Promise<Manifest['files']> {
  const own = await readManifest(dir);
  return kept === undefined
    ? own.files
    : { ...own.files, ...(await readManifestFile(keptFile(kept, dir))).files };
}

/** Keeps the manifest of a folder that is not ours. @throws errors of the file system */
export async function keepManifest(kept: string, dir: string, entries: Manifest['files']): Promise<void> {
  await makeFolder(kept);
  await replaceFile(keptFile(kept, dir), formatManifest(entries));
}

/** Replaces the manifest of a folder atomically. @throws errors of the file system */
export async function writeManifest(dir: string, entries: Manifest['files']): Promise<void> {
  await replaceFile(join(dir, MANIFEST_NAME), formatManifest(entries));
}

/** Removes temporary files of killed processes. Only for the holder of the lock. */
export async function removeLeftovers(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (!name.startsWith(`${MANIFEST_NAME}.`) || !name.endsWith('.tmp')) continue;
    const path = join(dir, name);
    const { mtimeMs = Date.now() } = (await stat(path).catch(() => undefined)) ?? {};
    if (Date.now() - mtimeMs > LEFTOVER_MS) await rm(path, { force: true });
  }
}

/** Younger temporary files are kept: processes that only check a folder write manifests without the lock. */
const LEFTOVER_MS = 60_000;

/** Text of a manifest, in a stable order. For files in an image, `mtimeMs` is the timestamp in the layer. */
export function formatManifest(entries: Manifest['files']): string {
  const files = Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify({ version: 1, files } satisfies Manifest, null, 1)}\n`;
}

/** The entry of a file that was verified when its timestamp was `mtimeMs`. */
export function entryOf(file: RepoFile, mtimeMs: number): ManifestEntry {
  return { size: file.size, hash: expectedDigest(file)?.hex ?? '', mtimeMs };
}

export type FileCheckResult =
  { state: 'valid'; entry: ManifestEntry } | { state: 'missing' } | { state: 'invalid'; reason: string };

/**
 * Checks one file of a folder: by its manifest entry if size and timestamp match, else by hashing it.
 * @param beforeHash called when the file has to be read in full
 */
export async function checkFile(
  dir: string,
  file: RepoFile,
  { known, beforeHash, signal }: { known?: ManifestEntry; beforeHash?: () => void; signal?: AbortSignal },
): Promise<FileCheckResult> {
  if (!isSafePath(file.path)) return { state: 'invalid', reason: 'its path leaves the folder' };
  const path = join(dir, ...file.path.split('/'));
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error.code);
  if (found === 'EACCES') return { state: 'invalid', reason: 'this user may not read it' };
  if (typeof found !== 'object') return { state: 'missing' };
  if (!found.isFile()) return { state: 'invalid', reason: 'it is no file' };
  if (found.size !== file.size)
    return { state: 'invalid', reason: `it has ${found.size} bytes, not ${file.size}` };
  const entry = entryOf(file, found.mtimeMs);
  if (known && isDeepEqual(known, entry)) return { state: 'valid', entry };
  const expected = expectedDigest(file);
  if (expected) {
    beforeHash?.();
    const hex = await digestOf(path, file, signal).catch(unreadable);
    if (typeof hex === 'object') return hex;
    if (hex !== expected.hex) return { state: 'invalid', reason: 'its content differs' };
  }
  return { state: 'valid', entry };
}

/** The result for a file that can't be read. @throws errors that are not about the file */
function unreadable(error: NodeJS.ErrnoException): FileCheckResult {
  // Another process is repairing the folder.
  if (error.code === 'ENOENT') return { state: 'missing' };
  if (error.code === 'EACCES') return { state: 'invalid', reason: 'this user may not read it' };
  if (error.code === 'EIO') return { state: 'invalid', reason: 'the disk can not read it' };
  throw error;
}

function isDeepEqual(a: ManifestEntry, b: ManifestEntry): boolean {
  return a.size === b.size && a.hash === b.hash && a.mtimeMs === b.mtimeMs;
}
