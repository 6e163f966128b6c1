import { join } from 'node:path';
import pLimit from 'p-limit';
import { type ModelSpec, type RepoFile, totalBytes } from '../core/spec.js';
import { isCompleteFolder, judgeFolder } from './candidate.js';
import { downloadFiles, type DownloadOptions, type Progress } from './download.js';
import { writeProblem } from './errors.js';
import { checkLargeGraphs } from './graph-check.js';
import { acquireLock } from './lock.js';
import { makeFolder } from './make-folder.js';
import { writeManifest } from './manifest.js';
import { discard } from './part-file.js';
import { candidateDirs, downloadDir, OWN_PREFIX } from './paths.js';
import type { ModelSource } from './source.js';

export interface WeightsOptions {
  spec: Pick<ModelSpec, 'id' | 'commit' | 'files'>;
  /** Folders in which the files may already lie, in order. See candidateDirs for what is tried below each. */
  roots: readonly string[];
  /** Folder under which a download goes to `<org>/<name>/<commit>`. */
  downloadRoot: string;
  /** Called only when something has to be downloaded. May throw. */
  source: () => Pick<ModelSource, 'open'>;
  onProgress?: (progress: Progress) => void;
  signal?: AbortSignal;
  /** Gets lines for the operator. */
  log?: (line: string) => void;
  /** For tests. */
  tuning?: Pick<DownloadOptions, 'parallel' | 'attempts' | 'backoffMs'>;
}

export interface Weights {
  /** Folder that holds every file of the spec under its repository path, verified. */
  dir: string;
  /** False when all was there: then no request was made. */
  downloaded: boolean;
}

/**
 * Finds a folder with all files of a spec, or downloads what is missing. May be called by several processes with the
 * same folders: one downloads, the others wait and use the result.
 * @throws StoreError, the signal's reason, or what `source` throws
 */
export async function ensureWeights(options: WeightsOptions): Promise<Weights> {
  const present = await findComplete(options);
  const dir = present ?? downloadDir(options.downloadRoot, options.spec);
  const downloaded = present === undefined && (await downloadMissing(dir, options));
  checkLargeGraphs(dir, options.spec.files);
  return { dir, downloaded };
}

async function findComplete(options: WeightsOptions): Promise<string | undefined> {
  const { spec, roots, signal, log = () => undefined } = options;
  const target = downloadDir(options.downloadRoot, spec);
  for (const dir of new Set([...roots.flatMap((root) => candidateDirs(root, spec)), target])) {
    // The download folder is repaired if need be, whatever is wrong with it.
    const explain = dir !== target;
    if (await isCompleteFolder(dir, { files: spec.files, explain, log, signal })) return dir;
  }
  return undefined;
}

/** @returns false when another process had finished it meanwhile */
async function downloadMissing(dir: string, options: WeightsOptions): Promise<boolean> {
  const { spec, signal, log = () => undefined } = options;
  const source = options.source();
  const lock = await lockFolder(dir, { signal, log });
  try {
    const { complete, good, wrong } = await judgeFolder(dir, { files: spec.files, log, signal });
    if (complete) return false;
    for (const [path, reason] of wrong) {
      log(`${path} is fetched again: ${reason}`);
      await discard(join(dir, ...path.split('/')));
    }
    const missing = spec.files.filter((file) => !(file.path in good));
    const oneByOne = pLimit(1);
    await downloadFiles(missing, {
      ...options.tuning,
      ref: spec,
      source,
      dir,
      signal,
      log,
      onProgress: withPresent(spec.files, missing, options.onProgress),
      async onFile(path, entry) {
        good[path] = entry;
        await oneByOne(() => writeManifest(dir, good));
      },
    });
    return true;
  } catch (error) {
    throw writeProblem(error, dir);
  } finally {
    await lock.release();
  }
}

async function lockFolder(
  dir: string,
  { signal, log }: { signal?: AbortSignal; log: (line: string) => void },
) {
  try {
    await makeFolder(dir);
    const onWait = () => log('another process downloads this model, waits for it');
    return await acquireLock(join(dir, `${OWN_PREFIX}.lock`), { signal, onWait });
  } catch (error) {
    throw writeProblem(error, dir);
  }
}

/** Counts the files that were there before as done. */
function withPresent(
  all: readonly RepoFile[],
  missing: readonly RepoFile[],
  onProgress: WeightsOptions['onProgress'],
): WeightsOptions['onProgress'] {
  const present = totalBytes({ files: all }) - totalBytes({ files: missing });
  return (progress) =>
    onProgress?.({
      ...progress,
      doneBytes: progress.doneBytes + present,
      totalBytes: progress.totalBytes + present,
    });
}
