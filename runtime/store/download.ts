import { join } from 'node:path';
import pLimit from 'p-limit';
import { type RepoFile, totalBytes } from '../core/spec.js';
import { StoreError, WRITABLE_REMEDY } from './errors.js';
import { entryOf, type ManifestEntry } from './manifest.js';
import { openPart, type PartFile } from './part-file.js';
import { waitBeforeRetry } from './retry.js';
import { checkSpace } from './space.js';
import type { ModelSource, RepoRef } from './source.js';

export interface Progress {
  file: string;
  /** Bytes of `file` that are present. */
  fileBytes: number;
  /** Bytes of all files that are present, from earlier attempts too. Goes down when a file is started again. */
  doneBytes: number;
  totalBytes: number;
}

export interface DownloadOptions {
  ref: RepoRef;
  source: Pick<ModelSource, 'open'>;
  /** Target folder; files keep their repository paths. */
  dir: string;
  onProgress?: (progress: Progress) => void;
  /** Called when a file is complete, verified and has its final name. */
  onFile?: (path: string, entry: ManifestEntry) => Promise<void> | void;
  signal?: AbortSignal | undefined;
  /** Throws when another process has taken over the folder. */
  confirm?: () => Promise<void>;
  /** Remedy if the folder has not enough space. */
  writeRemedy?: string | undefined;
  log: (line: string) => void;
  /** Files downloaded at the same time; 4. */
  parallel?: number;
  /** Failures in a row, without progress, before a file is given up; 6. */
  attempts?: number;
  /** First delay after a failure; 500 ms. */
  backoffMs?: number;
}

/** Most connections per file, and one more for each mebibyte: limits connections that break after a few bytes. */
const MAX_CONNECTIONS = 200;

/** A connection that transferred less counts as a failure. */
const MIN_PROGRESS_BYTES = 1024;

/**
 * Downloads files into `dir`. A file gets its final name only when its size and hash are right; an interrupted download
 * in `<file>.part` is resumed. The first failure stops the other downloads; their parts stay.
 * @returns bytes received over the network
 * @throws StoreError, errors of the file system, or the abort reason
 */
export async function downloadFiles(files: readonly RepoFile[], options: DownloadOptions): Promise<number> {
  await checkSpace(files, options.dir, options.writeRemedy ?? WRITABLE_REMEDY);
  const failed = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, failed.signal]) : failed.signal;
  const report = createReporter(files, options.onProgress);
  const limit = pLimit(options.parallel ?? 4);
  const largestFirst = [...files].sort((a, b) => b.size - a.size);
  const received = { bytes: 0 };
  const download = async (file: RepoFile) => {
    signal.throwIfAborted();
    await downloadFile(file, { ...options, signal, report, received });
  };
  let failure: unknown;
  const jobs = largestFirst.map((file) =>
    limit(download, file).catch((error: unknown) => {
      failure ??= error;
      failed.abort(error);
    }),
  );
  await Promise.all(jobs);
  if (failure !== undefined) throw failure;
  return received.bytes;
}

type Report = (file: string, bytes: number) => void;

function createReporter(files: readonly RepoFile[], onProgress: DownloadOptions['onProgress']): Report {
  const bytes = new Map<string, number>();
  const total = totalBytes({ files });
  let doneBytes = 0;
  return (file, fileBytes) => {
    doneBytes += fileBytes - (bytes.get(file) ?? 0);
    bytes.set(file, fileBytes);
    onProgress?.({ file, fileBytes, doneBytes, totalBytes: total });
  };
}

interface FileOptions extends DownloadOptions {
  signal: AbortSignal;
  report: Report;
  /** Counts the bytes received for all files. */
  received: { bytes: number };
}

async function downloadFile(file: RepoFile, options: FileOptions): Promise<void> {
  const part = await openPart(join(options.dir, ...file.path.split('/')), file, options);
  try {
    options.report(file.path, part.length);
    // A part left by an earlier process may be damaged, so it gets one more try.
    let tries = part.length > 0 ? 3 : 2;
    for (;;) {
      await downloadPart(part, file, options);
      if (part.isValid()) break;
      await part.reset();
      options.report(file.path, 0);
      if (--tries === 0) throw corrupt(file);
      options.log(`${file.path} came with wrong content, fetches it once more`);
    }
    const mtimeMs = await part.finish();
    await options.onFile?.(file.path, entryOf(file, mtimeMs));
  } finally {
    await part.close();
  }
}

/** Appends until the file has its announced size, over as many connections as needed. */
async function downloadPart(part: PartFile, file: RepoFile, options: FileOptions): Promise<void> {
  const { signal, log, attempts = 6, backoffMs: baseMs = 500 } = options;
  let failures = 0;
  for (let connections = 1; part.length < file.size; connections++) {
    const before = part.length;
    try {
      await transfer(part, file, options);
    } catch (error) {
      failures = part.length >= before + MIN_PROGRESS_BYTES ? 0 : failures + 1;
      const mayRetry = connections < MAX_CONNECTIONS + part.length / 2 ** 20;
      await waitBeforeRetry(error, mayRetry ? failures : Infinity, { attempts, baseMs, signal });
      log(`${file.path}: ${(error as Error).message.split(';')[0]}; goes on from byte ${part.length}`);
    }
  }
}

/** Downloads over one connection. Returns when the file is complete. */
async function transfer(part: PartFile, file: RepoFile, options: FileOptions): Promise<void> {
  const { offset, body } = await options.source.open(options.ref, file, part.length, options.signal);
  if (offset > part.length)
    throw new StoreError('network', `${file.path} came from the wrong place`, { remedy: 'try again' });
  // A server without support for ranges sends bytes again that are present.
  let skip = part.length - offset;
  for await (const bytes of body) {
    options.received.bytes += bytes.length;
    const chunk = bytes.subarray(skip);
    skip = Math.max(0, skip - bytes.length);
    if (part.length + chunk.length > file.size) {
      await part.reset();
      throw corrupt(file);
    }
    if (chunk.length === 0) continue;
    await part.append(chunk);
    options.report(file.path, part.length);
  }
  options.signal.throwIfAborted();
  if (part.length < file.size)
    throw new StoreError('network', `${file.path} was cut off`, { remedy: 'try again' });
}

function corrupt(file: RepoFile): StoreError {
  return new StoreError('corrupt', `${file.path} does not have the content that its repository announces`, {
    remedy:
      'try again; if it stays, the mirror or a proxy on the way alters files: set HF_ENDPOINT to another hub',
  });
}
