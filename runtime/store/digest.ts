import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { RepoFile } from '../core/spec.js';

/** What a file must hash to, and under which name a manifest keeps it. */
export interface Expected {
  algorithm: 'sha256' | 'sha1';
  hex: string;
}

/** The strongest hash that the listing gives, or undefined where it gives none. */
export function expectedDigest({ sha256, gitOid }: RepoFile): Expected | undefined {
  if (sha256) return { algorithm: 'sha256', hex: sha256 };
  if (gitOid) return { algorithm: 'sha1', hex: gitOid };
  return undefined;
}

/** A running hash over the content of `file`, fed in order from its first byte. */
export function startDigest(file: RepoFile): Hash {
  const expected = expectedDigest(file);
  if (expected?.algorithm !== 'sha1') return createHash('sha256');
  return createHash('sha1').update(`blob ${file.size}\0`);
}

/** Hashes what lies at `path` as `file` wants it hashed. Streams: memory stays flat whatever the size. */
export async function digestOf(path: string, file: RepoFile, signal?: AbortSignal): Promise<string> {
  const hash = startDigest(file);
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20, signal })) hash.update(chunk);
  return hash.digest('hex');
}
