import type { ModelInfo, RepoFile } from '../core/spec.js';
import { expectedDigest, startDigest } from './digest.js';
import { StoreError } from './errors.js';
import { withRetries } from './retry.js';

/** One repository at one commit. */
export type RepoRef = Pick<ModelInfo, 'id' | 'commit'>;

export interface OpenedFile {
  /** Offset of `body` in the file: as requested, or smaller if the source does not support ranges. */
  offset: number;
  /** May end early without an error when the connection breaks; the reader must compare lengths. */
  body: AsyncIterable<Uint8Array>;
}

/** A part of a file, in bytes. */
export interface ByteRange {
  offset: number;
  length: number;
}

/**
 * Where models come from: a hub or a local folder. All methods may be called concurrently and throw StoreError.
 */
export interface ModelSource {
  /** Lists a repository and pins `revision` (default `main`) to a commit. */
  info(id: string, revision?: string): Promise<ModelInfo>;
  /** Ids of a few models with ONNX exports whose cards name this one as their base, most used first. Hubs only. */
  conversions?(id: string): Promise<string[]>;
  /** Text of a small file; undefined if the repository does not have it. */
  readText(info: ModelInfo, path: string): Promise<string | undefined>;
  /** Bytes of a file from `offset`. Read the body or abort the signal, else the connection leaks. */
  open(ref: RepoRef, file: RepoFile, offset: number, signal?: AbortSignal): Promise<OpenedFile>;
  /** A small part of a file, and no more than that over the network. The part lies inside of the listed size. */
  read(ref: RepoRef, file: RepoFile, range: ByteRange, signal?: AbortSignal): Promise<Buffer>;
}

/** The files of a repository, to be read in parts by their paths. Paths must be those of the listing. */
export function rangesOf(
  source: Pick<ModelSource, 'read'>,
  repository: Pick<ModelInfo, 'id' | 'commit' | 'files'>,
) {
  const byPath = new Map(repository.files.map((file) => [file.path, file]));
  return {
    files: repository.files,
    async read(path: string, offset: number, length: number, signal?: AbortSignal): Promise<Buffer> {
      const file = byPath.get(path);
      if (!file) throw new StoreError('not_found', `${repository.id} has no file ${path}`);
      return source.read(repository, file, { offset, length }, signal);
    },
  };
}

/**
 * Reads a small file, checked against its announced length and hash.
 * @throws StoreError network (retryable) when the bytes end early or are wrong
 */
export async function readWholeFile(
  source: Pick<ModelSource, 'open'>,
  ref: RepoRef,
  file: RepoFile,
): Promise<Buffer> {
  const { body } = await source.open(ref, file, 0);
  const chunks: Uint8Array[] = [];
  const hash = startDigest(file);
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > file.size)
      throw new StoreError('corrupt', `${file.path} of ${ref.id} is longer than announced`);
    hash.update(chunk);
    chunks.push(chunk);
  }
  const remedy = 'try again';
  if (length < file.size)
    throw new StoreError('network', `${file.path} of ${ref.id} came in part`, { remedy });
  const expected = expectedDigest(file);
  if (!expected || hash.digest('hex') === expected.hex) return Buffer.concat(chunks);
  throw new StoreError('network', `${file.path} of ${ref.id} came with other content than announced`, {
    remedy,
  });
}

/** `readWholeFile` with retries. */
export function readBytes(source: Pick<ModelSource, 'open'>, ref: RepoRef, file: RepoFile): Promise<Buffer> {
  return withRetries(() => readWholeFile(source, ref, file), { attempts: 4, baseMs: 500 });
}
