import { access, constants, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepoFile } from '../core/spec.js';
import { checkFile, keepManifest, knownFiles, type Manifest, writeManifest } from './manifest.js';

export interface CandidateOptions {
  files: readonly RepoFile[];
  log: (line: string) => void;
  signal?: AbortSignal | undefined;
  /** Hash every file, even if its timestamp says that it was verified. */
  rehash?: boolean | undefined;
  /** Where the manifest goes of a folder that is not ours, into which nothing is written; absent: it is ours. */
  kept?: string | undefined;
}

export interface FolderCheck {
  complete: boolean;
  /** Manifest entries of the files that are present and verified. */
  valid: Manifest['files'];
  /** Files that are present but not valid, and why. */
  invalid: Map<string, string>;
}

/**
 * True when the folder holds all files with verified content. Cheap if sizes already differ or the manifest is up to
 * date; else the files are hashed once and, if its place is writable, a manifest is written.
 * @param options.explain log why a folder that has some of the weights is not used
 */
export async function isCompleteFolder(
  dir: string,
  options: CandidateOptions & { explain?: boolean },
): Promise<boolean> {
  const mismatch = await findMismatch(dir, options.files);
  if (mismatch) {
    if (mismatch.hasWeights && options.explain) options.log(`${dir} is not used: ${mismatch.reason}`);
    return false;
  }
  const { complete, invalid } = await checkFolder(dir, options);
  if (!complete && options.explain)
    options.log(`${dir} is not used: ${[...invalid].map(([path, why]) => `${path}: ${why}`).join(', ')}`);
  return complete;
}

/** Checks every file and updates the manifest. */
export async function checkFolder(
  dir: string,
  { files, log, signal, rehash = false, kept }: CandidateOptions,
): Promise<FolderCheck> {
  const known = await knownFiles(dir, kept);
  const check: FolderCheck = { complete: true, valid: {}, invalid: new Map() };
  let hashed = 0;
  const beforeHash = () => {
    if (hashed++ === 0) log(`verifies the files in ${dir}`);
  };
  for (const file of files) {
    const trusted = rehash ? undefined : known[file.path];
    const result = await checkFile(dir, file, { known: trusted, beforeHash, signal });
    if (result.state === 'valid') check.valid[file.path] = result.entry;
    else check.complete = false;
    if (result.state === 'invalid') check.invalid.set(file.path, result.reason);
  }
  if (hashed > 0) await writeManifestIfPossible(dir, kept, { ...known, ...check.valid });
  return check;
}

/** The first file that is missing or has another size; `hasWeights` if the folder holds a graph of the right size. */
async function findMismatch(
  dir: string,
  files: readonly RepoFile[],
): Promise<{ reason: string; hasWeights: boolean } | undefined> {
  let reason: string | undefined;
  let hasWeights = false;
  for (const file of files) {
    const found = await stat(join(dir, ...file.path.split('/'))).catch(() => undefined);
    if (found?.size === file.size) hasWeights ||= file.path.endsWith('.onnx');
    else
      reason ??= found ? `${file.path} has ${found.size} bytes, not ${file.size}` : `${file.path} is missing`;
  }
  return reason === undefined ? undefined : { reason, hasWeights };
}

async function writeManifestIfPossible(
  dir: string,
  kept: string | undefined,
  entries: Manifest['files'],
): Promise<void> {
  try {
    if (kept !== undefined) return await keepManifest(kept, dir, entries);
    await access(dir, constants.W_OK);
    await writeManifest(dir, entries);
  } catch {
    // A folder without a manifest is hashed at every start.
  }
}
