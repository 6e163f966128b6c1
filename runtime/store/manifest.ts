import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { RepoFile } from '../core/spec.js';
import { digestOf, expectedDigest } from './digest.js';
import { isSafePath, OWN_PREFIX } from './paths.js';
import { replaceFile } from './replace-file.js';

export const MANIFEST_NAME = `${OWN_PREFIX}.json`;

const entry = z.object({ size: z.number(), hash: z.string(), mtimeMs: z.number() });

/** What was verified and when: a file that still has this size and time is not hashed again. */
const manifest = z.object({ version: z.literal(1), files: z.record(z.string(), entry) });

export type ManifestEntry = z.output<typeof entry>;
export type Manifest = z.output<typeof manifest>;

/** The manifest of a folder; empty where there is none or it can't be read. */
export async function readManifest(dir: string): Promise<Manifest> {
  try {
    return manifest.parse(JSON.parse(await readFile(join(dir, MANIFEST_NAME), 'utf8')));
  } catch {
    return { version: 1, files: {} };
  }
}

/** Replaces the manifest of a folder at one stroke. @throws what the file system throws */
export async function writeManifest(dir: string, entries: Manifest['files']): Promise<void> {
  await replaceFile(join(dir, MANIFEST_NAME), formatManifest(entries));
}

/** Removes what processes that were killed while they wrote a manifest have left. For the holder of the lock. */
export async function removeLeftovers(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (!name.startsWith(`${MANIFEST_NAME}.`) || !name.endsWith('.tmp')) continue;
    const path = join(dir, name);
    const { mtimeMs = Date.now() } = (await stat(path).catch(() => undefined)) ?? {};
    if (Date.now() - mtimeMs > LEFTOVER_MS) await rm(path, { force: true });
  }
}

/** Who only looks writes manifests too, without the lock: their files are left alone for a while. */
const LEFTOVER_MS = 60_000;

/** Text of a manifest, in stable order. For who packs verified files into an image: mtimeMs as the layer keeps it. */
export function formatManifest(entries: Manifest['files']): string {
  const files = Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify({ version: 1, files } satisfies Manifest, null, 1)}\n`;
}

/** The entry that says: `file` was verified when its time stamp was `mtimeMs`. */
export function entryOf(file: RepoFile, mtimeMs: number): ManifestEntry {
  return { size: file.size, hash: expectedDigest(file)?.hex ?? '', mtimeMs };
}

export type FileCheckResult =
  { state: 'good'; entry: ManifestEntry } | { state: 'missing' } | { state: 'wrong'; reason: string };

/**
 * Judges one file of a folder: by its manifest entry when size and time still agree, else by hashing it.
 * @param beforeHash called when the file has to be read in full
 */
export async function checkFile(
  dir: string,
  file: RepoFile,
  { known, beforeHash, signal }: { known?: ManifestEntry; beforeHash?: () => void; signal?: AbortSignal },
): Promise<FileCheckResult> {
  if (!isSafePath(file.path)) return { state: 'wrong', reason: 'its path leaves the folder' };
  const path = join(dir, ...file.path.split('/'));
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error.code);
  if (found === 'EACCES') return { state: 'wrong', reason: 'this user may not read it' };
  if (typeof found !== 'object') return { state: 'missing' };
  if (!found.isFile()) return { state: 'wrong', reason: 'it is no file' };
  if (found.size !== file.size)
    return { state: 'wrong', reason: `it has ${found.size} bytes, not ${file.size}` };
  const entry = entryOf(file, found.mtimeMs);
  if (known && isDeepEqual(known, entry)) return { state: 'good', entry };
  const expected = expectedDigest(file);
  if (expected) {
    beforeHash?.();
    const hex = await digestOf(path, file, signal).catch(unreadable);
    if (typeof hex === 'object') return hex;
    if (hex !== expected.hex) return { state: 'wrong', reason: 'its content differs' };
  }
  return { state: 'good', entry };
}

/** What a file is that was there a moment ago. @throws what says nothing about the file */
function unreadable(error: NodeJS.ErrnoException): FileCheckResult {
  // Another process mends the folder just now.
  if (error.code === 'ENOENT') return { state: 'missing' };
  if (error.code === 'EACCES') return { state: 'wrong', reason: 'this user may not read it' };
  if (error.code === 'EIO') return { state: 'wrong', reason: 'the disk can not read it' };
  throw error;
}

function isDeepEqual(a: ManifestEntry, b: ManifestEntry): boolean {
  return a.size === b.size && a.hash === b.hash && a.mtimeMs === b.mtimeMs;
}
