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
  /** Bytes of `file` that are there. */
  fileBytes: number;
  /** Bytes of all files that are there, those from earlier attempts included. May go down when a file starts again. */
  doneBytes: number;
  totalBytes: number;
}

export interface DownloadOptions {
  ref: RepoRef;
  source: Pick<ModelSource, 'open'>;
  /** Folder that the files go to, under their repository paths. */
  dir: string;
  onProgress?: (progress: Progress) => void;
  /** Called when a file is complete, verified and under its final name. */
  onFile?: (path: string, entry: ManifestEntry) => Promise<void> | void;
  signal?: AbortSignal | undefined;
  /** Throws when another process has taken the folder over. */
  confirm?: () => Promise<void>;
  /** Remedy for a folder without room. */
  elsewhere?: string | undefined;
  log: (line: string) => void;
  /** Files at a time; 4. */
  parallel?: number;
  /** Failures in a row, without a new byte, before a file is given up; 6. */
  attempts?: number;
  /** First wait after a failure; 500 ms. */
  backoffMs?: number;
}

/** Files whose connections break again and again after a few bytes end here: so many, and one more per mebibyte. */
const MAX_CONNECTIONS = 200;

/** A connection that has brought less counts as a failure. */
const LEAST_BYTES = 1024;

/**
 * Downloads files into `dir`. A file has its final name only once its size and hash are right; what an interrupted
 * download left as `<file>.part` is continued. The first failure stops the others; their parts stay.
 * @returns bytes that came over the network
 * @throws StoreError, what the file system throws, or the signal's reason
 */
export async function downloadFiles(files: readonly RepoFile[], options: DownloadOptions): Promise<number> {
  await checkSpace(files, options.dir, options.elsewhere ?? WRITABLE_REMEDY);
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const report = progressOf(files, options.onProgress);
  const limit = pLimit(options.parallel ?? 4);
  const largestFirst = [...files].sort((a, b) => b.size - a.size);
  const received = { bytes: 0 };
  const one = async (file: RepoFile) => {
    signal.throwIfAborted();
    await downloadFile(file, { ...options, signal, report, received });
  };
  let failure: unknown;
  const jobs = largestFirst.map((file) =>
    limit(one, file).catch((error: unknown) => {
      failure ??= error;
      stop.abort(error);
    }),
  );
  await Promise.all(jobs);
  if (failure !== undefined) throw failure;
  return received.bytes;
}

type Report = (file: string, bytes: number) => void;

function progressOf(files: readonly RepoFile[], onProgress: DownloadOptions['onProgress']): Report {
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
  /** Counts what all files together have received. */
  received: { bytes: number };
}

async function downloadFile(file: RepoFile, options: FileOptions): Promise<void> {
  const part = await openPart(join(options.dir, ...file.path.split('/')), file, options);
  try {
    options.report(file.path, part.length);
    // What an earlier process left may be wrong after a power cut: that says nothing about the hub.
    let tries = part.length > 0 ? 3 : 2;
    for (;;) {
      await fill(part, file, options);
      if (part.isRight()) break;
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

/** Appends until the announced size is there, through as many connections as it takes. */
async function fill(part: PartFile, file: RepoFile, options: FileOptions): Promise<void> {
  const { signal, log, attempts = 6, backoffMs: baseMs = 500 } = options;
  let failures = 0;
  for (let connections = 1; part.length < file.size; connections++) {
    const before = part.length;
    try {
      await transfer(part, file, options);
    } catch (error) {
      failures = part.length >= before + LEAST_BYTES ? 0 : failures + 1;
      const patient = connections < MAX_CONNECTIONS + part.length / 2 ** 20;
      await waitBeforeRetry(error, patient ? failures : Infinity, { attempts, baseMs, signal });
      log(`${file.path}: ${(error as Error).message.split(';')[0]}; goes on from byte ${part.length}`);
    }
  }
}

/** One connection. Returns when it has brought the rest of the file. */
async function transfer(part: PartFile, file: RepoFile, options: FileOptions): Promise<void> {
  const { offset, body } = await options.source.open(options.ref, file, part.length, options.signal);
  if (offset > part.length)
    throw new StoreError('network', `${file.path} came from the wrong place`, { remedy: 'try again' });
  // A server that can't start in the middle sends again what is there already.
  let known = part.length - offset;
  for await (const bytes of body) {
    options.received.bytes += bytes.length;
    const chunk = bytes.subarray(known);
    known = Math.max(0, known - bytes.length);
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
