import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import tar from 'tar-stream';

/** One member of a build context. */
export interface ContextEntry {
  /** Relative, with forward slashes; a directory ends with a slash. */
  path: string;
  /** Permission bits; 0644 for files and 0755 for directories unless given. */
  mode?: number;
  /** Whole seconds since 1970; by default `FIXED_MTIME`, so that equal content gives equal bytes. */
  mtime?: number;
  /** Content, or a file to be streamed; absent for a directory. */
  content?: string | Buffer | { file: string; size: number };
}

/** 2020-01-01, since build times must not get into an image. */
export const FIXED_MTIME = 1_577_836_800;

/**
 * A tar stream of the entries and their parent folders, sorted by path, owned by 0:0. Files are read while the stream is
 * consumed. The stream fails when a file is missing or has changed its size.
 */
export function tarStream(entries: readonly ContextEntry[]): Readable {
  const pack = tar.pack();
  const sorted = [...withParents(entries)].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  fill(pack, sorted).catch((error: Error) => pack.destroy(error));
  return pack as unknown as Readable;
}

/** Adds parent folders: without an entry they would get the time of the build, and the layer another digest. */
function withParents(entries: readonly ContextEntry[]): Iterable<ContextEntry> {
  const all = new Map(entries.map((entry) => [entry.path, entry]));
  for (const { path } of entries) {
    for (let end = path.indexOf('/'); end >= 0 && end < path.length - 1; end = path.indexOf('/', end + 1)) {
      const folder = path.slice(0, end + 1);
      if (!all.has(folder)) all.set(folder, { path: folder });
    }
  }
  return all.values();
}

async function fill(pack: tar.Pack, entries: readonly ContextEntry[]): Promise<void> {
  for (const entry of entries) await append(pack, entry);
  pack.finalize();
}

async function append(
  pack: tar.Pack,
  { path, mode, mtime = FIXED_MTIME, content }: ContextEntry,
): Promise<void> {
  const owner = { uid: 0, gid: 0, mtime: new Date(mtime * 1000) };
  if (content === undefined) {
    pack.entry({ ...owner, name: path, type: 'directory', mode: mode ?? 0o755 });
    return;
  }
  const header = { ...owner, name: path, mode: mode ?? 0o644 };
  if (typeof content === 'object' && 'file' in content) {
    const sink = pack.entry({ ...header, size: content.size });
    await pipeline(createReadStream(content.file, { highWaterMark: 2 ** 18 }), sink);
    return;
  }
  await new Promise<void>((resolve, reject) => {
    pack.entry(header, content, (error) => (error ? reject(error) : resolve()));
  });
}
