import { access, constants, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepoFile } from '../core/spec.js';
import { checkFile, type Manifest, readManifest, writeManifest } from './manifest.js';

export interface CandidateOptions {
  files: readonly RepoFile[];
  log: (line: string) => void;
  signal?: AbortSignal | undefined;
  /** Hash every file, also those whose time stamp says that they were verified. */
  rehash?: boolean | undefined;
}

export interface FolderCheck {
  complete: boolean;
  /** Files that are there and verified, as the manifest keeps them. */
  good: Manifest['files'];
  /** Files that are there with other content, and why they don't count. */
  wrong: Map<string, string>;
}

/**
 * True when the folder holds all files with verified content. Cheap when it doesn't (sizes come first) and when its
 * manifest is up to date; else the files are hashed once and, where the folder is writable, a manifest is left.
 * @param options.explain say in the log why a promising folder is not used
 */
export async function isCompleteFolder(
  dir: string,
  options: CandidateOptions & { explain?: boolean },
): Promise<boolean> {
  const missing = await firstMisfit(dir, options.files);
  if (missing) {
    if (missing.some && options.explain) options.log(`${dir} is not used: ${missing.reason}`);
    return false;
  }
  const { complete, wrong } = await checkFolder(dir, options);
  if (!complete && options.explain)
    options.log(`${dir} is not used: ${[...wrong].map(([path, why]) => `${path}: ${why}`).join(', ')}`);
  return complete;
}

/** Looks at every file; keeps the manifest in step with what was found. */
export async function checkFolder(
  dir: string,
  { files, log, signal, rehash = false }: CandidateOptions,
): Promise<FolderCheck> {
  const known = (await readManifest(dir)).files;
  const judgement: FolderCheck = { complete: true, good: {}, wrong: new Map() };
  let hashed = 0;
  const beforeHash = () => {
    if (hashed++ === 0) log(`verifies the files in ${dir}`);
  };
  for (const file of files) {
    const trusted = rehash ? undefined : known[file.path];
    const verdict = await checkFile(dir, file, { known: trusted, beforeHash, signal });
    if (verdict.state === 'good') judgement.good[file.path] = verdict.entry;
    else judgement.complete = false;
    if (verdict.state === 'wrong') judgement.wrong.set(file.path, verdict.reason);
  }
  if (hashed > 0) await writeWherePossible(dir, { ...known, ...judgement.good });
  return judgement;
}

/** The first file without which the folder is out, by sizes alone; `some` when the folder looked promising. */
async function firstMisfit(
  dir: string,
  files: readonly RepoFile[],
): Promise<{ reason: string; some: boolean } | undefined> {
  let reason: string | undefined;
  let weights = false;
  for (const file of files) {
    const found = await stat(join(dir, ...file.path.split('/'))).catch(() => undefined);
    if (found?.size === file.size) weights ||= file.path.endsWith('.onnx');
    else
      reason ??= found ? `${file.path} has ${found.size} bytes, not ${file.size}` : `${file.path} is missing`;
  }
  return reason === undefined ? undefined : { reason, some: weights };
}

async function writeWherePossible(dir: string, entries: Manifest['files']): Promise<void> {
  try {
    await access(dir, constants.W_OK);
    await writeManifest(dir, entries);
  } catch {
    // A read-only folder is hashed at every start.
  }
}
