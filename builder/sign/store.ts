import { mkdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../runtime/store/replace-file.js';
import { BuilderError } from '../exit.js';
import { BUNDLE_SUFFIX } from './bundle.js';

/** Where the signature of an image is kept on the machine that made it: an image can't hold its own. */
export function signatureFile(data: string, id: string): string {
  return path.join(data, 'signatures', `${id.replace(':', '-')}${BUNDLE_SUFFIX}`);
}

/** Writes a bundle, whole or not at all. @throws BuilderError `failure` */
export async function writeBundle(file: string, text: string): Promise<void> {
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await replaceFile(file, text, { sync: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BuilderError('failure', `the signature ${file} can't be written (${code})`, { cause: error });
  }
}

/** A bundle has a few kilobytes; what is larger is none. */
const LARGEST = 2 ** 22;

/** @returns undefined when there is none. @throws BuilderError `failure` when it can't be read */
export async function readBundle(file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    if (size > LARGEST) throw new BuilderError('failure', `${file} has ${size} bytes: it is no signature`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof BuilderError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new BuilderError('failure', `the signature ${file} can't be read (${code})`, { cause: error });
  }
}
