import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { RepoFile } from '../core/spec.js';

/** The hash that a file must have. */
export interface ExpectedDigest {
  algorithm: 'sha256' | 'sha1';
  hex: string;
}

/** The strongest hash in the listing; undefined if it has none. */
export function expectedDigest({ sha256, gitOid }: RepoFile): ExpectedDigest | undefined {
  if (sha256) return { algorithm: 'sha256', hex: sha256 };
  if (gitOid) return { algorithm: 'sha1', hex: gitOid };
  return undefined;
}

/** A hash to be fed with the content of `file` from its first byte. */
export function startDigest(file: RepoFile): Hash {
  const expected = expectedDigest(file);
  if (expected?.algorithm !== 'sha1') return createHash('sha256');
  return createHash('sha1').update(`blob ${file.size}\0`);
}

/**
 * Hashes the file at `path` with the algorithm that `file` needs. Reads into one buffer: the buffers of a stream would
 * wait for garbage collection, 45 MB in a server that verifies its weights.
 */
export async function digestOf(path: string, file: RepoFile, signal?: AbortSignal): Promise<string> {
  const hash = startDigest(file);
  const buffer = Buffer.allocUnsafe(2 ** 20);
  const handle = await open(path);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await handle.read(buffer);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}
