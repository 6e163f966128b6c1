import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import type { FileCheck } from './record.js';

const CHUNK_BYTES = 2 ** 20;

/**
 * Hashes files one after the other. Synchronous, so it needs a thread of its own.
 * @returns a description of the first mismatch; undefined if there is none
 */
export function findMismatch(files: readonly FileCheck[]): string | undefined {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (const file of files) {
    const problem = problemOf(file, buffer);
    if (problem !== undefined) return `${file.name}: ${problem}`;
  }
  return undefined;
}

function problemOf({ path, size, sha256 }: FileCheck, buffer: Buffer): string | undefined {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    const handle = openSync(path, 'r');
    try {
      for (let read = -1; read !== 0; bytes += read) {
        read = readSync(handle, buffer);
        hash.update(buffer.subarray(0, read));
      }
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    return `it can't be read (${(error as NodeJS.ErrnoException).code})`;
  }
  if (bytes !== size) return `it has ${bytes} bytes, not ${size}`;
  return hash.digest('hex') === sha256 ? undefined : 'its content differs';
}
