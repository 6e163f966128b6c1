import { createHash } from 'node:crypto';
import type { ModelInfo, RepoFile } from '../../../runtime/core/spec.js';
import type { ModelSource } from '../../../runtime/store/source.js';

/** A file that is made of metadata. */
export interface MadeFile extends RepoFile {
  sha256: string;
  content: Buffer;
}

export function madeFiles(contents: Readonly<Record<string, string | Buffer>>): MadeFile[] {
  return Object.entries(contents).map(([path, text]) => {
    const content = Buffer.from(text);
    return {
      path,
      size: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
      content,
    };
  });
}

/** What a repository would be if it had these files beside some of its own, and no others. */
export function virtualRepository(
  source: ModelSource,
  info: ModelInfo,
  { made, kept }: { made: readonly MadeFile[]; kept: readonly RepoFile[] },
): { source: ModelSource; info: ModelInfo } {
  const byPath = new Map(made.map((file) => [file.path, file.content]));
  const listed = made.map(({ path, size, sha256 }) => ({ path, size, sha256 }));
  return {
    info: { ...info, files: [...listed, ...kept].sort((a, b) => (a.path < b.path ? -1 : 1)) },
    source: {
      ...source,
      async readText(ref, path) {
        return byPath.get(path)?.toString('utf8') ?? source.readText(ref, path);
      },
      async open(ref, file, offset, signal) {
        const content = byPath.get(file.path);
        return content
          ? { offset, body: bodyOf(content.subarray(offset)) }
          : source.open(ref, file, offset, signal);
      },
      async read(ref, file, range, signal) {
        const content = byPath.get(file.path);
        return (
          content?.subarray(range.offset, range.offset + range.length) ??
          source.read(ref, file, range, signal)
        );
      },
    },
  };
}

async function* bodyOf(content: Buffer): AsyncGenerator<Uint8Array> {
  yield content;
}
