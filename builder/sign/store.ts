import { mkdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../runtime/store/replace-file.js';
import { BuilderError } from '../exit.js';
import { BUNDLE_SUFFIX } from './bundle.js';

/** File of an image's signature on the machine that made it; the image can't contain its own signature. */
export function signatureFile(data: string, id: string): string {
  return path.join(data, 'signatures', `${id.replace(':', '-')}${BUNDLE_SUFFIX}`);
}

/** Writes a bundle atomically. @throws BuilderError `failure` */
export async function writeBundle(file: string, text: string): Promise<void> {
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await replaceFile(file, text, { sync: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BuilderError('failure', `the signature ${file} can't be written (${code})`, { cause: error });
  }
}

/** Bundles have a few kilobytes; larger files are not read. */
const MAX_BYTES = 2 ** 22;

/** @returns undefined if the file does not exist. @throws BuilderError `failure` when it can't be read */
export async function readBundle(file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    if (size > MAX_BYTES) throw new BuilderError('failure', `${file} has ${size} bytes: it is no signature`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof BuilderError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new BuilderError('failure', `the signature ${file} can't be read (${code})`, { cause: error });
  }
}
