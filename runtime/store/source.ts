import type { ModelInfo, RepoFile } from '../core/spec.js';

/** One repository at one commit. */
export type RepoRef = Pick<ModelInfo, 'id' | 'commit'>;

export interface OpenedFile {
  /** First byte of `body` in the file: what was asked for, or 0 where the source can't start in the middle. */
  offset: number;
  /** Ends early without an error when the connection is cut: the reader compares lengths. */
  body: AsyncIterable<Uint8Array>;
}

/**
 * Where models come from: a hub or a local folder. Every method may be called many times at once.
 * All of them throw StoreError.
 */
export interface ModelSource {
  /** Lists a repository and pins `revision` (default `main`) to a commit. */
  info(id: string, revision?: string): Promise<ModelInfo>;
  /** Text of a small file, or undefined when the repository has none under this name. */
  readText(info: ModelInfo, path: string): Promise<string | undefined>;
  /** Bytes of a file from `offset` on. The body is read or the signal aborted, else the connection leaks. */
  open(ref: RepoRef, file: RepoFile, offset: number, signal?: AbortSignal): Promise<OpenedFile>;
}

/** All bytes of an opened file. Meant for small files. */
export async function readAll(opened: OpenedFile): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of opened.body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
