import { join, resolve, sep } from 'node:path';
import pLimit from 'p-limit';
import { type ModelSpec, type RepoFile, totalBytes } from '../core/spec.js';
import { isCompleteFolder, checkFolder } from './candidate.js';
import { downloadFiles, type DownloadOptions, type Progress } from './download.js';
import { StoreError, writeError } from './errors.js';
import { checkLargeGraphs } from './graph-check.js';
import { acquireLock, type Lock, LockLost, type LockOptions } from './lock.js';
import { makeFolder } from './make-folder.js';
import { readManifest, removeLeftovers, writeManifest } from './manifest.js';
import { removeTarget } from './part-file.js';
import { candidateDirs, downloadDir, MANIFESTS, OWN_PREFIX } from './paths.js';
import type { ModelSource } from './source.js';

export interface WeightsOptions {
  spec: Pick<ModelSpec, 'id' | 'commit' | 'files'>;
  /** Folders that may hold the files already, in order of preference. `candidateDirs` says what is tried in each. */
  roots: readonly string[];
  /** Downloads go to `<org>/<name>/<commit>` under this folder. */
  downloadRoot: string;
  /**
   * Where manifests go of folders that are not ours, which are those outside of `downloadRoot`; by default a folder in it. Given:
   * `downloadRoot` may be such a folder itself.
   */
  manifests?: string | undefined;
  /** Called only if something must be downloaded. May throw. */
  source: () => Pick<ModelSource, 'open'>;
  /** Hash every file, even if its timestamp says that it was verified. */
  rehash?: boolean;
  /** Remedy if the folder can't be written or has not enough space: where to write instead. */
  writeRemedy?: string;
  onProgress?: (progress: Progress) => void;
  signal?: AbortSignal;
  /** Receives lines for the operator. */
  log?: (line: string) => void;
  /** For tests. */
  tuning?: Pick<DownloadOptions, 'parallel' | 'attempts' | 'backoffMs'> &
    Pick<LockOptions, 'heartbeatMs' | 'staleMs'>;
}

export interface Weights {
  /** Folder with all files of the spec under their repository paths, verified. */
  dir: string;
  /** False if all files were present, so no request was made. */
  downloaded: boolean;
  /** Bytes received over the network. */
  receivedBytes: number;
}

/** Limit for a process that is stopped repeatedly while others download the same model. */
const MAX_TAKEOVERS = 5;

/**
 * Finds a folder with all files of a spec, or downloads what is missing. Several processes may share the folders: one
 * downloads, the others wait and use the result.
 * @throws StoreError, the abort reason, or whatever `source` throws
 */
export async function ensureWeights(options: WeightsOptions): Promise<Weights> {
  const present = await findWeights(options);
  const dir = present ?? downloadDir(options.downloadRoot, options.spec);
  const receivedBytes = present === undefined ? await fetchUnderLock(dir, options) : undefined;
  checkLargeGraphs(dir, options.spec.files);
  return { dir, downloaded: receivedBytes !== undefined, receivedBytes: receivedBytes ?? 0 };
}

/** The first folder that holds all files, verified; undefined if there is none. Makes no request. */
export async function findWeights(
  options: Pick<
    WeightsOptions,
    'spec' | 'roots' | 'downloadRoot' | 'manifests' | 'rehash' | 'signal' | 'log'
  >,
): Promise<string | undefined> {
  const { spec, roots, rehash, signal, log = () => undefined } = options;
  const target = downloadDir(options.downloadRoot, spec);
  for (const dir of new Set([...roots.flatMap((root) => candidateDirs(root, spec)), target])) {
    // The download folder needs no explanation, because it is repaired.
    const explain = dir !== target;
    const kept = keptElsewhere(dir, options);
    if (await isCompleteFolder(dir, { files: spec.files, explain, log, signal, rehash, kept })) return dir;
  }
  return undefined;
}

/** Where the manifest of a folder is kept; undefined for one of ours, which holds it itself. */
function keptElsewhere(
  dir: string,
  { downloadRoot, manifests }: Pick<WeightsOptions, 'downloadRoot' | 'manifests'>,
): string | undefined {
  if (manifests !== undefined) return manifests;
  const root = resolve(downloadRoot);
  const isOurs = resolve(dir) === root || resolve(dir).startsWith(root + sep);
  return isOurs ? undefined : join(root, MANIFESTS);
}

/** Downloads, or waits for another process that does. @returns bytes received; undefined if another process did it */
async function fetchUnderLock(dir: string, options: WeightsOptions): Promise<number | undefined> {
  const { log = () => undefined, writeRemedy } = options;
  const source = options.source();
  try {
    for (let takeovers = 0; ; takeovers++) {
      const lock = await lockFolder(dir, options);
      try {
        return await fetchMissing(dir, { ...options, lock, source });
      } catch (error) {
        const lost = await causeOf(error, lock);
        if (!(lost instanceof LockLost)) throw lost;
        if (takeovers === MAX_TAKEOVERS) throw takeoverError(dir, lost);
        log('this process stood still for long and another one has taken over the download');
      } finally {
        await lock.release();
      }
    }
  } catch (error) {
    throw writeError(error, dir, writeRemedy);
  }
}

/** If another process has taken over the folder, that is the cause of any error in it. */
async function causeOf(error: unknown, lock: Lock): Promise<unknown> {
  return lock.confirm().then(
    () => error,
    (lost: unknown) => (lost instanceof LockLost ? lost : error),
  );
}

function takeoverError(dir: string, cause: unknown): StoreError {
  return new StoreError('storage', `other processes keep taking over the download into ${dir}`, {
    remedy: 'let one of them finish first',
    cause,
  });
}

async function lockFolder(dir: string, { signal, log, tuning }: WeightsOptions): Promise<Lock> {
  await makeFolder(dir);
  const onWait = () => log?.('another process downloads this model, waits for it');
  return acquireLock(join(dir, `${OWN_PREFIX}.lock`), { ...tuning, signal, onWait });
}

type FetchOptions = Omit<WeightsOptions, 'source'> & { lock: Lock; source: Pick<ModelSource, 'open'> };

/** Needs the lock. @returns bytes received; undefined if another process has completed the folder */
async function fetchMissing(dir: string, options: FetchOptions): Promise<number | undefined> {
  const { spec, signal, rehash, lock, source, tuning, writeRemedy, log = () => undefined } = options;
  await removeLeftovers(dir);
  const { complete, valid, invalid } = await checkFolder(dir, { files: spec.files, log, signal, rehash });
  if (complete) return undefined;
  for (const [path, reason] of invalid) {
    log(`${path} is fetched again: ${reason}`);
    await lock.confirm();
    await removeTarget(join(dir, ...path.split('/')));
  }
  const missing = spec.files.filter((file) => !(file.path in valid));
  // The folder may hold other weight formats of the same commit.
  const entries = { ...(await readManifest(dir)).files, ...valid };
  const oneByOne = pLimit(1);
  return downloadFiles(missing, {
    ...tuning,
    ref: spec,
    source,
    dir,
    signal,
    writeRemedy,
    log,
    confirm: lock.confirm,
    onProgress: withPresent(spec.files, missing, options.onProgress),
    async onFile(path, entry) {
      entries[path] = entry;
      await oneByOne(() => writeManifest(dir, entries));
    },
  });
}

/** Counts files that were present before as done. */
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
