import { join } from 'node:path';
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
  /** Hash every file that is there, also those whose time stamp says that they were verified. */
  rehash?: boolean;
  /** Remedy for a folder that can't be written or has no room: where else to write. */
  elsewhere?: string;
  onProgress?: (progress: Progress) => void;
  signal?: AbortSignal;
  /** Gets lines for the operator. */
  log?: (line: string) => void;
  /** For tests. */
  tuning?: Pick<DownloadOptions, 'parallel' | 'attempts' | 'backoffMs'> &
    Pick<LockOptions, 'heartbeatMs' | 'staleMs'>;
}

export interface Weights {
  /** Folder that holds every file of the spec under its repository path, verified. */
  dir: string;
  /** False when all was there: then no request was made. */
  downloaded: boolean;
  /** Bytes that came over the network. */
  receivedBytes: number;
}

/** A process that is stopped again and again, while others download the same, ends here. */
const MAX_TAKEOVERS = 5;

/**
 * Finds a folder with all files of a spec, or downloads what is missing. May be called by several processes with the
 * same folders: one downloads, the others wait and use the result.
 * @throws StoreError, the signal's reason, or what `source` throws
 */
export async function ensureWeights(options: WeightsOptions): Promise<Weights> {
  const present = await findWeights(options);
  const dir = present ?? downloadDir(options.downloadRoot, options.spec);
  const receivedBytes = present === undefined ? await fetchInTurn(dir, options) : undefined;
  checkLargeGraphs(dir, options.spec.files);
  return { dir, downloaded: receivedBytes !== undefined, receivedBytes: receivedBytes ?? 0 };
}

/** The first folder that holds all files, verified; undefined where there is none. Asks no source. */
export async function findWeights(
  options: Pick<WeightsOptions, 'spec' | 'roots' | 'downloadRoot' | 'rehash' | 'signal' | 'log'>,
): Promise<string | undefined> {
  const { spec, roots, rehash, signal, log = () => undefined } = options;
  const target = downloadDir(options.downloadRoot, spec);
  for (const dir of new Set([...roots.flatMap((root) => candidateDirs(root, spec)), target])) {
    // The download folder is repaired if need be, whatever is wrong with it.
    const explain = dir !== target;
    if (await isCompleteFolder(dir, { files: spec.files, explain, log, signal, rehash })) return dir;
  }
  return undefined;
}

/** Downloads, or waits for who does, until the folder is complete. @returns bytes received; undefined when others did it */
async function fetchInTurn(dir: string, options: WeightsOptions): Promise<number | undefined> {
  const { log = () => undefined, elsewhere } = options;
  const source = options.source();
  try {
    for (let takeovers = 0; ; takeovers++) {
      const lock = await lockFolder(dir, options);
      try {
        return await fetchMissing(dir, { ...options, lock, source });
      } catch (error) {
        const lost = await causeOf(error, lock);
        if (!(lost instanceof LockLost)) throw lost;
        if (takeovers === MAX_TAKEOVERS) throw takenOver(dir, lost);
        log('this process stood still for long and another one has taken over the download');
      } finally {
        await lock.release();
      }
    }
  } catch (error) {
    throw writeError(error, dir, elsewhere);
  }
}

/** Whatever goes wrong in a folder that another process works in by now, is no error of its own. */
async function causeOf(error: unknown, lock: Lock): Promise<unknown> {
  return lock.confirm().then(
    () => error,
    (lost: unknown) => (lost instanceof LockLost ? lost : error),
  );
}

function takenOver(dir: string, cause: unknown): StoreError {
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

/** Under the lock. @returns bytes received; undefined when another process had finished it meanwhile */
async function fetchMissing(dir: string, options: FetchOptions): Promise<number | undefined> {
  const { spec, signal, rehash, lock, source, tuning, elsewhere, log = () => undefined } = options;
  await removeLeftovers(dir);
  const { complete, good, wrong } = await checkFolder(dir, { files: spec.files, log, signal, rehash });
  if (complete) return undefined;
  for (const [path, reason] of wrong) {
    log(`${path} is fetched again: ${reason}`);
    await lock.confirm();
    await removeTarget(join(dir, ...path.split('/')));
  }
  const missing = spec.files.filter((file) => !(file.path in good));
  // Other weight formats of the same commit lie here, too.
  const entries = { ...(await readManifest(dir)).files, ...good };
  const oneByOne = pLimit(1);
  return downloadFiles(missing, {
    ...tuning,
    ref: spec,
    source,
    dir,
    signal,
    elsewhere,
    log,
    confirm: lock.confirm,
    onProgress: withPresent(spec.files, missing, options.onProgress),
    async onFile(path, entry) {
      entries[path] = entry;
      await oneByOne(() => writeManifest(dir, entries));
    },
  });
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
