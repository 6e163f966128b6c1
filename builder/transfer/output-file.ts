import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { syncFolder } from '../../runtime/store/sync-folder.js';
import { BuilderError } from '../exit.js';
import { megabytes } from '../report.js';
import { gzipBlocks } from './gzip.js';

export interface WrittenFile {
  bytes: number;
  /** Hex hash of the file. */
  sha256: string;
}

/** Opens the stream to write, called when the output is ready. */
export type OpenStream = () => Promise<Readable>;

export interface OutputTarget {
  /** Uncompressed when the name ends with .tar. */
  file: string;
  /** Replace an existing file. */
  force: boolean;
}

/** @throws BuilderError when the file exists, or its folder is missing or nearly full */
export async function checkOutput({ file, force }: OutputTarget, expectedBytes: number): Promise<void> {
  if (!force && existsSync(file)) throw new BuilderError('usage', `${file} is there; --force replaces it`);
  const folder = path.dirname(path.resolve(file));
  const space = await statfs(folder).catch((error: NodeJS.ErrnoException) => {
    throw new BuilderError('failure', `can't write to ${folder} (${error.code})`);
  });
  const free = space.bavail * space.bsize;
  if (free < expectedBytes)
    throw new BuilderError(
      'failure',
      `${folder} has ${megabytes(free)} free and the export may take ${megabytes(expectedBytes)}; free some space or give another -o`,
    );
}

/**
 * Writes a stream to a file and its checksum to `<file>.sha256`. Both names appear only when the file is complete and
 * synced; the next export removes leftovers of a killed one.
 */
export async function writeOutput(
  source: OpenStream,
  { file }: Pick<OutputTarget, 'file'>,
): Promise<WrittenFile> {
  await removeLeftovers(file);
  const part = `${file}.${process.pid}.part`;
  try {
    const written = await writeSynced(source, part, file.endsWith('.tar'));
    const sum = `${part}.sha256`;
    await writeFile(sum, `${written.sha256}  ${path.basename(file)}\n`, { flush: true });
    await rename(part, file);
    await rename(sum, `${file}.sha256`);
    await syncFolder(path.dirname(file));
    return written;
  } catch (error) {
    throw told(error as NodeJS.ErrnoException, file);
  } finally {
    for (const left of [part, `${part}.sha256`]) await rm(left, { force: true });
  }
}

async function writeSynced(openSource: OpenStream, part: string, plain: boolean): Promise<WrittenFile> {
  const handle = await open(part, 'w');
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    const sink = async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        hash.update(chunk);
        await writeAll(handle, chunk);
        bytes += chunk.length;
      }
    };
    const source = await openSource();
    if (plain) await pipeline(source, sink);
    else await pipeline(source, gzipBlocks, sink);
    await handle.sync();
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, chunk: Buffer): Promise<void> {
  for (let at = 0; at < chunk.length;) at += (await handle.write(chunk, at)).bytesWritten;
}

const PART = /\.(\d+)\.part(?:\.sha256)?$/;

async function removeLeftovers(file: string): Promise<void> {
  const folder = path.dirname(file);
  for (const name of await readdir(folder)) {
    const pid = name.startsWith(`${path.basename(file)}.`) ? PART.exec(name)?.[1] : undefined;
    if (pid !== undefined && !isAlive(Number(pid))) await rm(path.join(folder, name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function told(error: NodeJS.ErrnoException, file: string): Error {
  if (error instanceof BuilderError) return error;
  const what = {
    ENOSPC: `the disk of ${file} is full; nothing was left there: free some space or give another -o`,
    EDQUOT: `the quota for ${file} is used up; nothing was left there: free some space or give another -o`,
    EFBIG: `${file} would be larger than this disk allows; nothing was left there: give another -o`,
    EACCES: `no permission to write ${file}`,
    EROFS: `${file} is on a read-only disk`,
  }[error.code ?? ''];
  return what === undefined ? error : new BuilderError('failure', what, { cause: error });
}
