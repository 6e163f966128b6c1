import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { damagedArchive } from '../archive/errors.js';
import { hashStream } from '../archive/streams.js';
import { BuilderError } from '../exit.js';
import { openFile } from './sources.js';

/**
 * Compares a file with the checksum beside it.
 * @throws BuilderError when they differ, or when there is none
 */
export async function checkChecksum(file: string, onBytes: (done: number) => void): Promise<void> {
  const wanted = await writtenChecksum(`${file}.sha256`);
  const { stream, digest } = hashStream(await openFile(file));
  let done = 0;
  stream.on('data', (chunk: Buffer) => onBytes((done += chunk.length)));
  const found = (await digest).slice('sha256:'.length);
  if (found === wanted) return;
  const what = `is not what was exported: its sha256 is ${found}, not ${wanted}`;
  throw damagedArchive(path.basename(file), what);
}

/** The hash in a file of `sha256sum`'s format. */
async function writtenChecksum(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const remedy = 'copy it too, or go without with --no-checksum';
    throw new BuilderError('failure', `the checksum ${file} can't be read (${error.code}); ${remedy}`);
  });
  const sum = /^\\?([0-9a-f]{64})(?:\s|$)/i.exec(text)?.[1];
  if (sum !== undefined) return sum.toLowerCase();
  throw new BuilderError('failure', `${file} is no checksum as sha256sum writes it; copy it again`);
}
